/* SPDX-License-Identifier: MIT */
#include "cli/app/move_parts.h"
#include "cli/app/place_rootfs.h"

#include "core/clock.h"
#include "core/json.h"
#include "core/log.h"
#include "core/str.h"
#include "oci/index.h"
#include "oci/layout.h"
#include "registry-client/copy.h"
#include "registry-client/manifest.h"
#include "registry-client/mirrors.h"
#include "registry-client/pull.h"

#include <string.h>

struct connection {
	struct connection *next;
	const struct remote_options *options;
	bool plain_http;
	const char *address;
	struct registry *registry;
};

void crew_release(struct crew *crew)
{
	for (; crew->connections; crew->connections = crew->connections->next)
		registry_close(crew->connections->registry);
	pthread_mutex_destroy(&crew->opening);
	pthread_mutex_destroy(&crew->packing);
}

static int open_locked(struct mover *mover, const struct remote_options *options, bool plain_http,
		       const char *address, struct registry **registry, struct error *err)
{
	struct remote_options remote = *options;
	struct crew *crew = mover->crew;
	struct connection *c;

	for (c = crew->connections; c; c = c->next) {
		remote.beside = c->registry;
		if (c->options == options && c->plain_http == plain_http &&
		    strcmp(c->address, address) == 0) {
			*registry = c->registry;
			return 0;
		}
	}
	remote.plain_http |= plain_http;
	if (remote_open(&mover->ctx, &remote, address, registry, err) < 0)
		return -1;
	c = ARENA_NEW(crew->arena, struct connection);
	*c = (struct connection){crew->connections, options, plain_http,
				 arena_strdup(crew->arena, address), *registry};
	crew->connections = c;
	return 0;
}

static int open_registry(struct mover *mover, const struct remote_options *options, bool plain_http,
			 const char *address, struct registry **registry, struct error *err)
{
	int rc;

	pthread_mutex_lock(&mover->crew->opening);
	rc = open_locked(mover, options, plain_http, address, registry, err);
	pthread_mutex_unlock(&mover->crew->opening);
	return rc;
}

int mover_registry(struct mover *mover, const struct remote_options *options, const char *address,
		   struct registry **registry, struct error *err)
{
	return open_registry(mover, options, false, address, registry, err);
}

void moved_take(struct moved *moved, const struct push_report *report, struct arena *arena)
{
	moved->digest = arena_strdup(arena, report->digest);
	moved->blobs_total = report->blobs_total;
	moved->blobs_moved = report->blobs_sent;
	moved->blobs_mounted = report->blobs_mounted;
	moved->bytes_moved = report->bytes_sent;
}

int move_read(struct mover *mover, const struct place *from, const struct layer_watch *watch,
	      struct place_image *image, struct error *err)
{
	int rc;

	pthread_mutex_lock(&mover->crew->packing);
	rc = place_read(from, watch, mover->ctx.arena, image, err);
	pthread_mutex_unlock(&mover->crew->packing);
	return rc;
}

/* A single image, which its config says what it is for. */
static int move_check_platform(const char *platform, const struct place_image *image,
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

int move_choose(const struct move_options *options, bool is_needed, struct place_image *image,
		struct arena *arena, struct error *err)
{
	const struct index_entry *entry;
	struct index index;
	const char *bytes;

	if (options->platform && platform_check(options->platform, err) < 0)
		return -1;
	if (options->platform && !media_is_index(image->manifest.media_type))
		return move_check_platform(options->platform, image, arena, err);
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

/* Where the image may be had: mirrors first, the registry itself last. */
static int find_mirrors(struct mover *mover, const struct place *from, struct mirrors *mirrors,
			struct error *err)
{
	struct cluster cluster;

	return remote_cluster(&mover->ctx, &cluster, err) < 0
		       ? -1
		       : mirrors_find(&from->ref, cluster.mirrors.docker, mover->ctx.arena, mirrors,
				      err);
}

static int pull_from(struct mover *mover, const struct mirror *from, const struct place *to,
		     struct place_image *image, struct pull_report *report, struct error *err)
{
	const struct move_options *options = mover->options;
	const char *platform = options->all ? PLATFORM_ALL : options->platform;
	_cleanup_(unpacker_close) struct unpacker *unpacker = NULL;
	const struct reference *ref = &from->ref;
	struct registry *registry;
	struct pull_watch watch;

	if (open_registry(mover, &options->from, from->plain_http, ref->registry, &registry, err) <
	    0)
		return -1;
	if (to->kind != PLACE_ROOTFS)
		return registry_pull(registry, ref, image->layout, platform, report,
				     &image->manifest, err);
	if (unpacker_start(to, image->layout, &unpacker, err) < 0)
		return -1;
	watch = unpacker_watch(unpacker);
	return unpacker_finish(unpacker,
			       registry_pull_watched(registry, ref, image->layout, platform, &watch,
						     report, &image->manifest, err) == 0,
			       err);
}

static int pull_any(struct mover *mover, const struct place *from, const struct place *to,
		    struct place_image *image, struct pull_report *report, struct error *err)
{
	struct mirrors mirrors;

	if (find_mirrors(mover, from, &mirrors, err) < 0)
		return -1;
	for (size_t i = 0; i < mirrors.count; i++) {
		if (pull_from(mover, &mirrors.list[i], to, image, report, err) == 0)
			return 0;
		if (!remote_asks_next(&mirrors, i, err))
			break;
	}
	return -1;
}

static int move_pull(struct mover *mover, const struct place *from, const struct place *to,
		     struct moved *moved, struct error *err)
{
	_cleanup_(place_close) struct place_image image = {0};
	struct arena *arena = mover->ctx.arena;
	struct place target = *to;
	struct pull_report report = {0};

	name_target(&mover->ctx, from, &target);
	if (place_prepare(&target, arena, &image, err) < 0)
		return -1;
	if (pull_any(mover, from, &target, &image, &report, err) < 0) {
		if (report.bytes_received + report.bytes_resumed)
			place_keep(&image); /* what came need not come again */
		return -1;
	}
	if (to->kind != PLACE_ROOTFS && place_write(&target, &image, arena, err) < 0)
		return -1;
	moved->digest = arena_strdup(arena, image.manifest.digest);
	moved->blobs_total = report.blobs_total;
	moved->blobs_moved = report.blobs_received;
	moved->bytes_moved = report.bytes_received;
	moved->bytes_resumed = report.bytes_resumed;
	return 0;
}

/* The first place that answers with the image's manifest. */
static int choose_source(struct mover *mover, const struct place *from, struct registry **registry,
			 struct reference *ref, struct error *err)
{
	struct mirrors mirrors;
	struct descriptor manifest;
	const char *bytes;

	if (find_mirrors(mover, from, &mirrors, err) < 0)
		return -1;
	for (size_t i = 0; i < mirrors.count; i++) {
		const struct mirror *mirror = &mirrors.list[i];

		*ref = mirror->ref;
		if (open_registry(mover, &mover->options->from, mirror->plain_http, ref->registry,
				  registry, err) == 0 &&
		    (mirrors.count == 1 || registry_get_manifest(*registry, ref, mover->ctx.arena,
								 &manifest, &bytes, err) == 0))
			return 0;
		if (!remote_asks_next(&mirrors, i, err))
			break;
	}
	return -1;
}

static int move_copy(struct mover *mover, const struct place *from, const struct place *to,
		     struct moved *moved, struct error *err)
{
	const struct move_options *options = mover->options;
	struct registry *source, *target;
	struct push_report report;
	struct reference ref;

	if (choose_source(mover, from, &source, &ref, err) < 0 ||
	    mover_registry(mover, &options->to, to->ref.registry, &target, err) < 0 ||
	    registry_copy(source, &ref, target, &to->ref,
			  options->all ? PLATFORM_ALL : options->platform, &report, err) < 0)
		return -1;
	moved_take(moved, &report, mover->ctx.arena);
	return 0;
}

/* Between places on this machine. */
static int convert(struct mover *mover, const struct place *from, const struct place *to,
		   struct moved *moved, struct error *err)
{
	_cleanup_(place_close) struct place_image image = {0};
	struct arena *arena = mover->ctx.arena;
	struct place target = *to;

	if (move_read(mover, from, NULL, &image, err) < 0 ||
	    move_choose(mover->options, to->kind != PLACE_LAYOUT, &image, arena, err) < 0)
		return -1;
	if (!target.name)
		target.name = from->name;
	if (to->kind == PLACE_LAYOUT &&
	    layout_copy(image.layout, to->path, &image.manifest, err) < 0)
		return -1;
	moved->digest = arena_strdup(arena, image.manifest.digest);
	return place_write(&target, &image, arena, err);
}

int move_one(struct mover *mover, const struct place *from, const struct place *to,
	     struct moved *moved, struct error *err)
{
	uint64_t start = clock_usec();
	int rc;

	*moved = (struct moved){.digest = ""};
	if (from->kind == PLACE_REGISTRY)
		rc = to->kind == PLACE_REGISTRY ? move_copy(mover, from, to, moved, err)
						: move_pull(mover, from, to, moved, err);
	else if (to->kind == PLACE_REGISTRY)
		rc = move_push(mover, from, to, moved, err);
	else
		rc = convert(mover, from, to, moved, err);
	moved->seconds = clock_seconds_since(start);
	return rc;
}
