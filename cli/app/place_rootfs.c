/* SPDX-License-Identifier: MIT */
#include "cli/app/place_rootfs.h"

#include "core/file.h"
#include "oci/layout.h"
#include "oci/rootfs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unpacker {
	struct rootfs *rootfs;
	struct arena arena;
	const char *layout;
	pthread_t thread;
	bool is_running; /* the thread has to be joined */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct manifest image;
	bool has_image, no_more; /* the manifest is there; nothing else will come */
	bool config_is_there;
	bool *layer_is_there;
	int rc;
	struct error err;
};

/* The diffIDs of the config, as many as there are layers. */
static int read_diff_ids(const char *layout, const struct manifest *image, struct arena *arena,
			 const char ***ids, struct error *err)
{
	_cleanup_(json_free) cJSON *config = NULL;
	const cJSON *list;
	const char *bytes;
	size_t count;

	*ids = ARENA_ARRAY(arena, image->layer_count + 1, const char *);
	if (layout_read(layout, &image->config, MANIFEST_BYTES_MAX, arena, &bytes, err) < 0 ||
	    json_parse(bytes, image->config.size_bytes, "the config", &config, err) < 0)
		return -1;
	list = json_member(json_member(config, "rootfs"), "diff_ids");
	count = (size_t)cJSON_GetArraySize(list);
	if (count != image->layer_count)
		return error_set(
			err, ERROR_FAILED,
			"the config names %zu layers, the manifest %zu: it is no image of a root file system, or damaged",
			count, image->layer_count);
	for (size_t i = 0; i < count; i++) {
		const cJSON *id = cJSON_GetArrayItem(list, (int)i);

		if (!cJSON_IsString(id) || !digest_is_valid(id->valuestring))
			return error_set(
				err, ERROR_FAILED,
				"the config names layer %zu by no sha256 or sha512 digest: its bytes cannot be checked",
				i + 1);
		(*ids)[i] = arena_strdup(arena, id->valuestring);
	}
	return 0;
}

static int place_rootfs_apply(struct rootfs *rootfs, const char *layout,
			      const struct manifest *image, size_t i, const char *diff_id,
			      struct error *err)
{
	char path[LAYOUT_PATH_BYTES], title[32];

	snprintf(title, sizeof(title), "layer %zu of %zu", i + 1, image->layer_count);
	if (layout_blob_path(layout, image->layers[i].digest, path, err) < 0)
		return -1;
	return rootfs_apply(rootfs, path, diff_id, title, err);
}

int place_unpack(const struct place *place, const struct place_image *image, struct arena *arena,
		 struct error *err)
{
	_cleanup_(rootfs_close) struct rootfs *rootfs = NULL;
	struct manifest manifest;
	const char *bytes, **ids;

	if (layout_read(image->layout, &image->manifest, MANIFEST_BYTES_MAX, arena, &bytes, err) <
		    0 ||
	    manifest_parse(bytes, image->manifest.size_bytes, "the manifest", arena, &manifest,
			   err) < 0 ||
	    read_diff_ids(image->layout, &manifest, arena, &ids, err) < 0 ||
	    rootfs_open(place->path, place->limits, &rootfs, err) < 0)
		return -1;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (place_rootfs_apply(rootfs, image->layout, &manifest, i, ids[i], err) < 0)
			return -1;
	return rootfs_finish(rootfs, err);
}

/* Waits for the image; then for one of its blobs. False: it will not come. */
static bool wait_for(struct unpacker *u, const bool *is_there)
{
	bool came;

	pthread_mutex_lock(&u->lock);
	while (!*is_there && !u->no_more)
		pthread_cond_wait(&u->changed, &u->lock);
	came = *is_there;
	pthread_mutex_unlock(&u->lock);
	return came;
}

static int unpack(struct unpacker *u, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char **ids;

	if (!wait_for(u, &u->has_image) || !wait_for(u, &u->config_is_there))
		return 0;
	if (read_diff_ids(u->layout, &u->image, &arena, &ids, err) < 0)
		return -1;
	for (size_t i = 0; i < u->image.layer_count; i++)
		if (!wait_for(u, &u->layer_is_there[i]))
			return 0;
		else if (place_rootfs_apply(u->rootfs, u->layout, &u->image, i, ids[i], err) < 0)
			return -1;
	return 0;
}

static void *place_rootfs_work(void *arg)
{
	struct unpacker *u = arg;
	struct error err = {0};
	int rc = unpack(u, &err);

	pthread_mutex_lock(&u->lock);
	u->rc = rc;
	u->err = err;
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

int unpacker_start(const struct place *place, const char *layout, struct unpacker **unpacker,
		   struct error *err)
{
	struct unpacker *u = xmalloc(sizeof(*u));

	*u = (struct unpacker){.arena = ARENA_INIT, .layout = layout};
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->changed, NULL);
	*unpacker = u;
	if (rootfs_open(place->path, place->limits, &u->rootfs, err) < 0)
		return -1;
	u->is_running = pthread_create(&u->thread, NULL, place_rootfs_work, u) == 0;
	return u->is_running ? 0 : error_set(err, ERROR_FAILED, "cannot start a thread");
}

static int started(void *arg, const struct manifest *image, struct error *err)
{
	struct unpacker *u = arg;

	if (u->has_image)
		return error_set(
			err, ERROR_USAGE,
			"there are several images; a root file system is one: leave out --all");
	pthread_mutex_lock(&u->lock);
	u->image = *image;
	u->image.layers = ARENA_ARRAY(&u->arena, image->layer_count + 1, struct descriptor);
	u->layer_is_there = ARENA_ARRAY(&u->arena, image->layer_count + 1, bool);
	if (image->layer_count)
		memcpy(u->image.layers, image->layers, image->layer_count * sizeof(*image->layers));
	u->has_image = true;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	return 0;
}

static int arrived(void *arg, const char *digest, struct error *err)
{
	struct unpacker *u = arg;
	int rc;

	pthread_mutex_lock(&u->lock);
	if (strcmp(u->image.config.digest, digest) == 0)
		u->config_is_there = true;
	for (size_t i = 0; i < u->image.layer_count; i++)
		if (strcmp(u->image.layers[i].digest, digest) == 0)
			u->layer_is_there[i] = true;
	rc = u->rc;
	if (rc < 0)
		*err = u->err;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	return rc;
}

struct pull_watch unpacker_watch(struct unpacker *unpacker)
{
	return (struct pull_watch){.started = started, .arrived = arrived, .arg = unpacker};
}

static void place_rootfs_join(struct unpacker *u)
{
	if (!u->is_running)
		return;
	pthread_mutex_lock(&u->lock);
	u->no_more = true;
	pthread_cond_broadcast(&u->changed);
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->thread, NULL);
	u->is_running = false;
}

int unpacker_finish(struct unpacker *u, bool pulled, struct error *err)
{
	place_rootfs_join(u);
	if (!pulled)
		return -1;
	if (u->rc < 0) {
		*err = u->err;
		return -1;
	}
	return rootfs_finish(u->rootfs, err);
}

void unpacker_close(struct unpacker **place)
{
	struct unpacker *u = *place;

	if (!u)
		return;
	place_rootfs_join(u);
	rootfs_close(&u->rootfs);
	pthread_mutex_destroy(&u->lock);
	pthread_cond_destroy(&u->changed);
	arena_release(&u->arena);
	free(u);
	*place = NULL;
}
