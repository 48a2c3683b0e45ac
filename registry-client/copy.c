/* SPDX-License-Identifier: MIT */
#include "registry-client/copy.h"

#include "oci/index.h"
#include "registry-client/blobs/blob.h"
#include "registry-client/blobs/blob_get.h"
#include "registry-client/manifest_http.h"
#include "registry-client/pull.h"
#include "registry-client/push.h"
#include "registry-client/http/session.h"

#include <stdio.h>
#include <string.h>

/* The one image of an index that is wanted. */
static int copy_choose(const char *bytes, const struct reference *from, const char *platform,
		       struct descriptor *manifest, struct arena *arena, struct error *err)
{
	const char *what = reference_text(from, arena);
	const struct index_entry *entry;
	struct index index;

	if (index_parse(bytes, manifest->size_bytes, what, arena, &index, err) < 0 ||
	    index_choose(&index, platform, what, &entry, err) < 0)
		return -1;
	*manifest = entry->descriptor;
	return 0;
}

/* A single image has to be for the platform that was named, as in a pull. */
static int copy_check(const struct blob_source *source, const char *bytes,
		      const struct descriptor *descriptor, const char *platform,
		      struct arena *arena, struct error *err)
{
	struct manifest manifest;
	const char *config;
	size_t length;

	if (manifest_parse(bytes, descriptor->size_bytes, "the manifest", arena, &manifest, err) <
		    0 ||
	    registry_get_blob(source->registry, source->ref, &manifest.config, arena, &config,
			      &length, err) < 0)
		return -1;
	return platform_check_config(platform, config, length, err);
}

static int copy_image(struct push_origin *origin, struct registry *target,
		      const struct reference *to, const char *platform, struct push_report *report,
		      struct arena *arena, struct error *err)
{
	const struct reference *from = origin->source->ref;
	struct descriptor manifest;
	const char *bytes;

	if (platform && strcmp(platform, PLATFORM_ALL) == 0)
		platform = NULL;
	if (platform && platform_check(platform, err) < 0)
		return -1;
	if (registry_get_manifest(origin->source->registry, from, arena, &manifest, &bytes, err) <
	    0)
		return -1;
	if (platform && media_is_index(manifest.media_type)
		    ? copy_choose(bytes, from, platform, &manifest, arena, err) < 0
		    : platform && copy_check(origin->source, bytes, &manifest, platform, arena,
					     err) < 0)
		return -1;
	return push_from(target, origin, &manifest, to, report, err);
}

int registry_copy(struct registry *source, const struct reference *from, struct registry *target,
		  const struct reference *to, const char *platform, struct push_report *report,
		  struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	char scope[SCOPE_BYTES];
	const struct blob_source where = {.registry = source, .ref = from, .scope = scope};
	struct push_origin origin = {.source = &where};

	*report = (struct push_report){0};
	scope_write(scope, from, "pull");
	if (strcmp(from->registry, to->registry) == 0 &&
	    strcmp(from->repository, to->repository) != 0)
		origin.mount_from = from->repository;
	if (copy_image(&origin, target, to, platform, report, &arena, err) == 0)
		return 0;
	return err->kind == ERROR_INTERRUPTED
		       ? -1
		       : error_wrap(err, "copy to %s/%s", to->registry, to->repository);
}
