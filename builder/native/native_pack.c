/* SPDX-License-Identifier: MIT */
/*
 * Layers of the image become blobs while later steps run: threads of a lower priority than the
 * steps take them in the order that they were made. Where there are no such threads, native_finish
 * does it all.
 */
#include "builder/native/native_parts.h"

#include "core/clock.h"
#include "core/pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define PACKER_NICE 10

/* The next layer to pack; false at the end. */
static bool next_layer(struct native_packers *packers, char key[static KEY_BYTES], size_t *number)
{
	bool any;

	pthread_mutex_lock(&packers->lock);
	while (packers->next == packers->count && !packers->is_complete)
		pthread_cond_wait(&packers->changed, &packers->lock);
	any = packers->next < packers->count;
	if (any) {
		*number = packers->next + 1;
		memcpy(key, packers->keys[packers->next++], KEY_BYTES);
	}
	pthread_mutex_unlock(&packers->lock);
	return any;
}

static void native_pack_fail(struct native_build *build, const struct error *err)
{
	struct native_packers *packers = &build->packers;

	pthread_mutex_lock(&packers->lock);
	if (!packers->err.kind)
		packers->err = *err;
	pthread_mutex_unlock(&packers->lock);
	native_stop(build);
}

static void *native_pack_layer(void *arg)
{
	_cleanup_(free_pointer) struct layer_parts *parts = xmalloc(sizeof(*parts));
	struct native_build *build = arg;
	char key[KEY_BYTES], title[32];
	size_t number;

	setpriority(PRIO_PROCESS, (id_t)gettid(), PACKER_NICE);
	while (next_layer(&build->packers, key, &number)) {
		struct error err = {0};

		if (atomic_load(&build->has_failed))
			continue;
		snprintf(title, sizeof(title), "layer %zu", number);
		if (interrupt_check(&err) < 0 ||
		    store_parts(&build->store, key, title, parts, &err) < 0)
			native_pack_fail(build, &err);
	}
	return NULL;
}

void native_pack_begin(struct native_build *build)
{
	struct native_packers *packers = &build->packers;
	size_t wanted = pool_cores();

	pthread_mutex_init(&packers->lock, NULL);
	pthread_cond_init(&packers->changed, NULL);
	for (size_t i = 0; i < wanted && i < PACKERS_MAX; i++)
		if (pthread_create(&packers->threads[packers->thread_count], NULL,
				   native_pack_layer, build) == 0)
			packers->thread_count++;
}

void native_pack(struct native_stage *stage, const char *key)
{
	struct native_packers *packers = &stage->build->packers;

	if (!stage->is_in_image)
		return;
	pthread_mutex_lock(&packers->lock);
	if (packers->count < CHAIN_MAX)
		memcpy(packers->keys[packers->count++], key, KEY_BYTES);
	pthread_cond_signal(&packers->changed);
	pthread_mutex_unlock(&packers->lock);
}

void native_pack_end(struct native_build *build)
{
	struct native_packers *packers = &build->packers;

	pthread_mutex_lock(&packers->lock);
	packers->is_complete = true;
	pthread_cond_broadcast(&packers->changed);
	pthread_mutex_unlock(&packers->lock);
	while (packers->thread_count > 0)
		pthread_join(packers->threads[--packers->thread_count], NULL);
	pthread_cond_destroy(&packers->changed);
	pthread_mutex_destroy(&packers->lock);
}
