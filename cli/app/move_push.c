/* SPDX-License-Identifier: MIT */
#include "cli/app/move_push.h"

#include "cli/app/place_docker.h"
#include "core/file.h"
#include "core/log.h"
#include "core/progress_total.h"
#include "oci/known.h"
#include "oci/layout.h"
#include "registry-client/push.h"

#include <fcntl.h>
#include <unistd.h>

/* An archive whose layers are all known. */
struct recalled {
	struct crew *crew;
	int fd;
	const struct place_image *image;
	const struct archive_options *options;
	const struct part *layers;
	uint64_t made_bytes; /* of blobs that had to be made all the same */
	bool differs;	     /* a layer became another blob than before */
};

static int pack_missing(void *arg, const struct descriptor *const *blobs, size_t count,
			struct error *err)
{
	struct recalled *recalled = arg;
	bool same;
	int rc;

	pthread_mutex_lock(&recalled->crew->packing);
	rc = archive_pack(recalled->fd, recalled->image->layout, recalled->options,
			  recalled->layers, blobs, count, &same, err);
	pthread_mutex_unlock(&recalled->crew->packing);
	if (rc < 0)
		return -1;
	recalled->differs = !same;
	for (size_t i = 0; i < count; i++)
		recalled->made_bytes += blobs[i]->size_bytes;
	return same ? 0
		    : error_set(
			      err, ERROR_FAILED,
			      "a layer of %s was packed into other bytes than before; run the same command again",
			      recalled->options->label);
}

/* Layers that were not packed, because what they became was known. */
static void count_known(const struct place_image *image, uint64_t made_bytes, struct arena *arena)
{
	struct manifest manifest;
	struct error ignored = {0};
	const char *bytes;

	if (layout_read(image->layout, &image->manifest, MANIFEST_BYTES_MAX, arena, &bytes,
			&ignored) < 0 ||
	    manifest_parse(bytes, image->manifest.size_bytes, "it", arena, &manifest, &ignored) < 0)
		return;
	for (size_t i = 0; i < manifest.layer_count; i++)
		progress_add(PROGRESS_CACHED, (int64_t)manifest.layers[i].size_bytes);
	progress_add(PROGRESS_CACHED, -(int64_t)made_bytes);
}

static int push_image(struct mover *mover, struct registry *registry, struct place_image *image,
		      const struct push_supply *supply, const struct place *to, struct moved *moved,
		      struct error *err)
{
	struct push_report report;

	if (registry_push_supplied(registry, image->layout, supply, &image->manifest, &to->ref,
				   &report, err) < 0)
		return -1;
	moved_take(moved, &report, mover->ctx.arena);
	return 0;
}

/* *done false: the archive has to be read whole. */
static int push_recalled(struct mover *mover, struct registry *registry, const struct place *from,
			 const struct place *to, struct moved *moved, bool *done, struct error *err)
{
	const struct archive_options options = place_archive_options(from, mover->ctx.arena);
	_cleanup_(place_close) struct place_image image = {0};
	_cleanup_(fd_close) int fd = -1;
	struct recalled recalled = {.crew = mover->crew, .image = &image, .options = &options};
	const struct push_supply supply = {.make = pack_missing, .arg = &recalled};
	struct error ignored = {0};

	*done = false;
	if (file_open(from->path, &fd, &ignored) < 0) /* place_read says why */
		return 0;
	if (place_prepare(from, mover->ctx.arena, &image, err) < 0)
		return -1;
	recalled.fd = fd;
	if (!archive_recall(fd, image.layout, &options, mover->ctx.arena, &recalled.layers,
			    &image.manifest))
		return 0;
	*done = true;
	if (push_image(mover, registry, &image, &supply, to, moved, err) == 0) {
		count_known(&image, recalled.made_bytes, mover->ctx.arena);
		return 0;
	}
	if (!recalled.differs)
		return -1;
	*done = false;
	*err = (struct error){0};
	return 0;
}

/* A daemon gives its image's layers only all together, so none may be missing here. */
static int none_is_made(void *arg, const struct descriptor *const *blobs, size_t count,
			struct error *err)
{
	bool *is_missing = arg;

	(void)blobs;
	*is_missing = true;
	return error_set(err, ERROR_FAILED, "the registry lacks %zu layers", count);
}

/* The same for the daemon: by the image's config, which was kept. */
static int push_daemon_known(struct mover *mover, struct registry *registry,
			     const struct place *from, const struct place *to, struct moved *moved,
			     bool *done, struct error *err)
{
	_cleanup_(place_close) struct place_image image = {0};
	struct arena *arena = mover->ctx.arena;
	const char *folder = place_known_folder(arena);
	bool is_missing = false;
	const struct push_supply supply = {.make = none_is_made, .arg = &is_missing};

	if (!file_exists(folder))
		return 0;
	if (place_prepare(from, arena, &image, err) < 0)
		return -1;
	if (!known_image(folder, docker_image_id(from->name, arena), image.layout, arena,
			 &image.manifest))
		return 0;
	log_debug("%s: all layers are known; it is not saved", from->name);
	*done = true;
	if (push_image(mover, registry, &image, &supply, to, moved, err) == 0) {
		count_known(&image, 0, arena);
		return 0;
	}
	if (!is_missing)
		return -1;
	*done = false;
	*err = (struct error){0};
	return 0;
}

/* Each layer goes when it is packed. Of an archive's several images one may not want all layers. */
static int push_as_packed(struct mover *mover, struct registry *registry, const struct place *from,
			  const struct place *to, struct moved *moved, struct error *err)
{
	_cleanup_(place_close) struct place_image image = {0};
	_cleanup_(push_ahead_end) struct push_ahead *ahead = push_ahead_begin(registry, &to->ref);
	const struct layer_watch watch = {.packed = push_ahead_blob, .arg = ahead};
	const struct push_supply supply = {.ahead = ahead};
	bool all_are_wanted = from->kind != PLACE_ARCHIVE || !from->name;

	if (mover_read(mover, from, all_are_wanted ? &watch : NULL, &image, err) < 0 ||
	    mover_choose(mover->options, false, &image, mover->ctx.arena, err) < 0)
		return -1;
	return push_image(mover, registry, &image, &supply, to, moved, err);
}

int move_push(struct mover *mover, const struct place *from, const struct place *to,
	      struct moved *moved, struct error *err)
{
	struct registry *registry;
	bool done = false;

	if (mover_target(mover, to, &registry, err) < 0 || registry_contact(registry, err) < 0)
		return -1;
	if (from->kind == PLACE_ARCHIVE &&
	    push_recalled(mover, registry, from, to, moved, &done, err) < 0)
		return -1;
	if (from->kind == PLACE_DAEMON &&
	    push_daemon_known(mover, registry, from, to, moved, &done, err) < 0)
		return -1;
	if (done)
		return 0;
	return push_as_packed(mover, registry, from, to, moved, err);
}
