/* SPDX-License-Identifier: MIT */
#include "builder/native/native_image.h"

#include "core/clock.h"
#include "core/pool.h"
#include "oci/layout.h"

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

int native_add_layer(struct native_stage *stage, const char *key, const char *created_by)
{
	const char *copy = arena_strdup(&stage->arena, key);

	if (stage->chain_count == CHAIN_MAX)
		return native_bad(stage, ERROR_FAILED, "the image would have too many layers");
	stage->chain[stage->chain_count++] = copy;
	stage->records[stage->record_count++] =
		(struct native_record){arena_strdup(&stage->arena, created_by), copy};
	memcpy(stage->key, key, KEY_BYTES);
	native_pack(stage, key);
	return 0;
}

/* --- config and manifest -------------------------------------------------------------------- */

struct finish {
	struct native_stage *stage;
	struct arena *arena;
	struct manifest manifest;
	struct layer_parts *parts;
	int64_t created_s;
	struct error *err;
};

/* Packs the layer unless it is packed; *count is the number of its parts. */
static int native_finish_add_layer(struct finish *f, const char *key, size_t *count)
{
	struct store *store = &f->stage->build->store;
	const char *title = arena_printf(f->arena, "layer %zu", f->manifest.layer_count + 1);

	if (store_parts(store, key, title, f->parts, f->err) < 0 ||
	    store_check(store, key, f->parts, f->err) < 0)
		return -1;
	*count = f->parts->count;
	if (f->manifest.layer_count + *count > LAYERS_MAX)
		return error_set(f->err, ERROR_FAILED, "the image would have more than %d layers",
				 LAYERS_MAX);
	for (size_t i = 0; i < *count; i++) {
		f->manifest.layers[f->manifest.layer_count++] = f->parts->list[i].blob;
		image_config_add_diff_id(f->stage->config, f->parts->list[i].diff_id);
	}
	return 0;
}

/* The base's own layers stand before those that the records name. */
static size_t base_layers(const struct native_stage *stage)
{
	size_t named = 0;

	for (size_t i = 0; i < stage->record_count; i++)
		named += stage->records[i].key != NULL;
	return stage->chain_count - named;
}

static int add_layers(struct finish *f)
{
	struct native_stage *stage = f->stage;
	size_t at = base_layers(stage), count;

	cJSON_DeleteItemFromObjectCaseSensitive(stage->config, "rootfs");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(stage->config, "rootfs"), "type", "layers");
	for (size_t i = 0; i < at; i++)
		if (native_finish_add_layer(f, stage->chain[i], &count) < 0)
			return -1;
	for (size_t i = 0; i < stage->record_count; i++) {
		count = 0;
		if (stage->records[i].key &&
		    native_finish_add_layer(f, stage->chain[at++], &count) < 0)
			return -1;
		image_config_add_history(stage->config, stage->records[i].created_by, count,
					 f->created_s);
	}
	return 0;
}

int native_finish(struct native_stage *stage, struct arena *arena, struct descriptor *manifest,
		  struct error *err)
{
	const char *layout = stage->build->store.layout, *text;
	struct finish f = {.stage = stage,
			   .arena = arena,
			   .parts = ARENA_NEW(arena, struct layer_parts),
			   .created_s = stage->build->store.newest_s,
			   .err = err};

	snprintf(f.manifest.media_type, MEDIA_TYPE_BYTES, "%s", MEDIA_OCI_MANIFEST);
	f.manifest.layers = ARENA_ARRAY(arena, LAYERS_MAX, struct descriptor);
	if (add_layers(&f) < 0)
		return -1;
	text = image_config_write(stage->config, f.created_s, arena);
	if (layout_put(layout, text, strlen(text), MEDIA_OCI_CONFIG, &f.manifest.config, err) < 0)
		return -1;
	text = manifest_write(&f.manifest, arena);
	return layout_put(layout, text, strlen(text), MEDIA_OCI_MANIFEST, manifest, err);
}
