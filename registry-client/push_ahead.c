/* SPDX-License-Identifier: MIT */
/* Layers on their way to the registry while those behind them are still packed. */
#include "registry-client/push_parts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
	struct waiting *next;
	struct descriptor blob;
};

struct push_ahead {
	struct push push;
	struct push_origin origin;
	pthread_t thread;
	bool is_started;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct waiting *first, **last;
	bool is_closed;
};

/* All that wait; NULL at the end. */
static struct waiting *push_ahead_wait(struct push_ahead *ahead)
{
	struct waiting *list;

	pthread_mutex_lock(&ahead->lock);
	while (!ahead->first && !ahead->is_closed)
		pthread_cond_wait(&ahead->changed, &ahead->lock);
	/* what is left at the end goes with the rest of the image, over all connections */
	list = ahead->is_closed ? NULL : ahead->first;
	if (list) {
		ahead->first = NULL;
		ahead->last = &ahead->first;
	}
	pthread_mutex_unlock(&ahead->lock);
	return list;
}

static void release(struct waiting *list)
{
	while (list) {
		struct waiting *next = list->next;

		free(list);
		list = next;
	}
}

/* What fails is no news yet: it is tried again with the rest of the image. */
static int send_all(struct push *push, const struct waiting *list, struct error *err)
{
	int rc = 0;

	for (; rc == 0 && list; list = list->next)
		rc = push_add_blob(push, &list->blob, err);
	if (rc == 0)
		rc = push_ask(push, err);
	if (rc == 0)
		rc = push_send(push, err);
	if (rc < 0)
		push_forget(push);
	return rc;
}

static void *push_ahead_work(void *arg)
{
	struct push_ahead *ahead = arg;
	struct error err = {0};
	struct waiting *list;
	int rc = 0;

	while (rc == 0 && (list = push_ahead_wait(ahead))) {
		rc = send_all(&ahead->push, list, &err);
		release(list);
	}
	return NULL;
}

struct push_ahead *push_ahead_begin(struct registry *registry, const struct reference *ref)
{
	struct push_ahead *ahead = xmalloc(sizeof(*ahead));

	memset(ahead, 0, sizeof(*ahead));
	ahead->last = &ahead->first;
	pthread_mutex_init(&ahead->lock, NULL);
	pthread_cond_init(&ahead->changed, NULL);
	push_init(&ahead->push, registry, &ahead->origin, ref);
	return ahead;
}

void push_ahead_blob(void *arg, const char *layout_folder, const struct descriptor *blob)
{
	struct push_ahead *ahead = arg;
	struct waiting *waiting = xmalloc(sizeof(*waiting));

	*waiting = (struct waiting){.blob = *blob};
	if (!ahead->origin.folder) {
		ahead->origin.folder = arena_strdup(&ahead->push.arena, layout_folder);
		push_open_journal(&ahead->push);
		ahead->is_started =
			pthread_create(&ahead->thread, NULL, push_ahead_work, ahead) == 0;
	}
	pthread_mutex_lock(&ahead->lock);
	*ahead->last = waiting;
	ahead->last = &waiting->next;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
}

struct push *push_ahead_take(struct push_ahead *ahead)
{
	pthread_mutex_lock(&ahead->lock);
	ahead->is_closed = true;
	pthread_cond_signal(&ahead->changed);
	pthread_mutex_unlock(&ahead->lock);
	if (ahead->is_started)
		pthread_join(ahead->thread, NULL);
	ahead->is_started = false;
	return &ahead->push;
}

void push_ahead_end(struct push_ahead **place)
{
	struct push_ahead *ahead = *place;

	if (!ahead)
		return;
	push_ahead_take(ahead);
	release(ahead->first);
	push_release(&ahead->push);
	pthread_cond_destroy(&ahead->changed);
	pthread_mutex_destroy(&ahead->lock);
	free(ahead);
	*place = NULL;
}
