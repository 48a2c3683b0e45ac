/* SPDX-License-Identifier: MIT */
#include "cli/app/mover.h"

#include "cli/app/move_push.h"
#include "cli/app/place_rootfs.h"
#include "core/clock.h"
#include "core/json.h"
#include "core/log.h"
#include "core/str.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "registry-client/copy.h"
#include "registry-client/manifest.h"
#include "registry-client/places/mirrors.h"
#include "registry-client/pull.h"

#include <string.h>

void crew_init(struct crew *crew, struct arena *arena)
{
	access_pool_init(&crew->registries, arena);
	pthread_mutex_init(&crew->packing, NULL);
}

void crew_release(struct crew *crew)
{
	access_pool_release(&crew->registries);
	pthread_mutex_destroy(&crew->packing);
}

int mover_target(struct mover *mover, const struct place *to, struct registry **registry,
		 struct error *err)
{
	return access_pool_open(&mover->crew->registries, &mover->ctx, &mover->options->to,
				&(struct mirror){.ref = to->ref}, registry, err);
}

static int mover_source(struct mover *mover, const struct mirror *place, struct registry **registry,
			struct error *err)
{
	return access_pool_open(&mover->crew->registries, &mover->ctx, &mover->options->from, place,
				registry, err);
}

void moved_take(struct moved *moved, const struct push_report *report, struct arena *arena)
{
	moved->digest = arena_strdup(arena, report->digest);
	moved->blobs_total = report->blobs_total;
	moved->blobs_moved = report->blobs_sent;
	moved->blobs_mounted = report->blobs_mounted;
	moved->bytes_moved = report->bytes_sent;
}

int mover_read(struct mover *mover, const struct place *from, const struct layer_watch *watch,
	       struct place_image *image, struct error *err)
{
	int rc;

	pthread_mutex_lock(&mover->crew->packing);
	rc = place_read(from, watch, mover->ctx.arena, image, err);
	pthread_mutex_unlock(&mover->crew->packing);
	return rc;
}

/* A single image, which its config says what it is for. */
static int mover_check_platform(const char *platform, const struct place_image *image,
				struct arena *arena, struct error *err)
{
	struct manifest manifest;
	const char *bytes;

	if (layout_read(image->layout, &image->manifest, MANIFEST_BYTES_MAX, arena, &bytes, err) <
		    0 ||
	    manifest_parse(bytes, image->manifest.size_bytes, "the manifest", arena, &manifest,
			   err) < 0 ||
	    layout_read(image->layout, &manifest.config, MANIFEST_BYTES_MAX, arena, &bytes, err) <
		    0)
		return -1;
	return platform_check_config(platform, bytes, manifest.config.size_bytes, err);
}

int mover_choose(const struct move_options *options, bool is_needed, struct place_image *image,
		 struct arena *arena, struct error *err)
{
	const struct index_entry *entry;
	struct index index;
	const char *bytes;

	if (options->platform && platform_check(options->platform, err) < 0)
		return -1;
	if (options->platform && !media_is_index(image->manifest.media_type))
		return mover_check_platform(options->platform, image, arena, err);
	if (!media_is_index(image->manifest.media_type) || options->all ||
	    (!options->platform && !is_needed))
		return 0;
	if (layout_read(image->layout, &image->manifest, MANIFEST_BYTES_MAX, arena, &bytes, err) <
		    0 ||
	    index_parse(bytes, image->manifest.size_bytes, image->layout, arena, &index, err) < 0 ||
	    index_choose(&index, options->platform, image->layout, &entry, err) < 0)
		return -1;
	image->manifest = entry->descriptor;
	return 0;
}

/* An archive or the daemon shows the image under the name that it was pulled by. */
static void name_target(struct context *ctx, const struct place *from, struct place *to)
{
	struct reference plain = from->ref;

	plain.digest = NULL;
	if (to->kind == PLACE_ARCHIVE && !to->name && (from->ref.tag || !from->ref.digest))
		to->name = reference_text(&plain, ctx->arena);
}

/* A pull from one registry after another. */
struct mover_pull {
	struct mover *mover;
	const struct place *to;
	struct place_image *image;
	struct pull_report report;
};

static int mover_pull_from(void *arg, const struct mirror *from, struct error *err)
{
	struct mover_pull *pull = arg;
	const struct move_options *options = pull->mover->options;
	const char *platform = options->all ? PLATFORM_ALL : options->platform;
	_cleanup_(unpacker_close) struct unpacker *unpacker = NULL;
	struct place_image *image = pull->image;
	struct registry *registry;
	struct pull_watch watch;

	if (mover_source(pull->mover, from, &registry, err) < 0)
		return -1;
	if (pull->to->kind != PLACE_ROOTFS)
		return registry_pull(registry, &from->ref, image->layout, platform, &pull->report,
				     &image->manifest, err);
	if (unpacker_start(pull->to, image->layout, &unpacker, err) < 0)
		return -1;
	watch = unpacker_watch(unpacker);
	return unpacker_finish(unpacker,
			       registry_pull_watched(registry, &from->ref, image->layout, platform,
						     &watch, &pull->report, &image->manifest,
						     err) == 0,
			       err);
}

static int mover_pull(struct mover *mover, const struct place *from, const struct place *to,
		      struct moved *moved, struct error *err)
{
	_cleanup_(place_close) struct place_image image = {0};
	struct arena *arena = mover->ctx.arena;
	struct place target = *to;
	struct mover_pull pull = {.mover = mover, .to = &target, .image = &image};

	name_target(&mover->ctx, from, &target);
	if (place_prepare(&target, arena, &image, err) < 0)
		return -1;
	if (access_read(&mover->ctx, &from->ref, mover_pull_from, &pull, err) < 0) {
		if (pull.report.bytes_received + pull.report.bytes_resumed)
			place_keep(&image); /* what came need not come again */
		return -1;
	}
	if (to->kind != PLACE_ROOTFS && place_write(&target, &image, arena, err) < 0)
		return -1;
	moved->digest = arena_strdup(arena, image.manifest.digest);
	moved->blobs_total = pull.report.blobs_total;
	moved->blobs_moved = pull.report.blobs_received;
	moved->bytes_moved = pull.report.bytes_received;
	moved->bytes_resumed = pull.report.bytes_resumed;
	return 0;
}

/* What a copy reads from. */
struct mover_origin {
	struct mover *mover;
	struct registry *registry;
	struct reference ref;
};

/* A mirror has to have the manifest; the registry itself need not be asked twice. */
static int mover_try_origin(void *arg, const struct mirror *place, struct error *err)
{
	struct mover_origin *origin = arg;
	struct descriptor manifest;
	const char *bytes;

	origin->ref = place->ref;
	if (mover_source(origin->mover, place, &origin->registry, err) < 0)
		return -1;
	return place->is_mirror
		       ? registry_get_manifest(origin->registry, &place->ref,
					       origin->mover->ctx.arena, &manifest, &bytes, err)
		       : 0;
}

static int mover_copy(struct mover *mover, const struct place *from, const struct place *to,
		      struct moved *moved, struct error *err)
{
	const struct move_options *options = mover->options;
	struct mover_origin origin = {.mover = mover};
	struct push_report report;
	struct registry *target;

	if (access_read(&mover->ctx, &from->ref, mover_try_origin, &origin, err) < 0 ||
	    mover_target(mover, to, &target, err) < 0 ||
	    registry_copy(origin.registry, &origin.ref, target, &to->ref,
			  options->all ? PLATFORM_ALL : options->platform, &report, err) < 0)
		return -1;
	moved_take(moved, &report, mover->ctx.arena);
	return 0;
}

/* Between places on this machine. */
static int mover_convert(struct mover *mover, const struct place *from, const struct place *to,
			 struct moved *moved, struct error *err)
{
	_cleanup_(place_close) struct place_image image = {0};
	struct arena *arena = mover->ctx.arena;
	struct place target = *to;

	if (mover_read(mover, from, NULL, &image, err) < 0 ||
	    mover_choose(mover->options, to->kind != PLACE_LAYOUT, &image, arena, err) < 0)
		return -1;
	if (!target.name)
		target.name = from->name;
	if (to->kind == PLACE_LAYOUT &&
	    layout_copy(image.layout, to->path, &image.manifest, err) < 0)
		return -1;
	moved->digest = arena_strdup(arena, image.manifest.digest);
	return place_write(&target, &image, arena, err);
}

int mover_move(struct mover *mover, const struct place *from, const struct place *to,
	       struct moved *moved, struct error *err)
{
	uint64_t start = clock_usec();
	int rc;

	*moved = (struct moved){.digest = ""};
	if (from->kind == PLACE_REGISTRY)
		rc = to->kind == PLACE_REGISTRY ? mover_copy(mover, from, to, moved, err)
						: mover_pull(mover, from, to, moved, err);
	else if (to->kind == PLACE_REGISTRY)
		rc = move_push(mover, from, to, moved, err);
	else
		rc = mover_convert(mover, from, to, moved, err);
	moved->seconds = clock_seconds_since(start);
	return rc;
}
