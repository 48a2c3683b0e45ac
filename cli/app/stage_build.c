/* SPDX-License-Identifier: MIT */
/* Spec -> image, with base images from registries. */
#include "cli/app/stages.h"

#include "cli/app/remote.h"
#include "registry-client/manifest.h"
#include "registry-client/mirrors.h"
#include "registry-client/pull.h"

#include <string.h>

/* Docker's names are short: "centos:7" is library/centos of Docker Hub. */
static const char *stage_build_full_name(struct stages *s, const char *image)
{
	const char *slash = strchr(image, '/');
	size_t first = slash ? (size_t)(slash - image) : 0;
	const char *host = arena_strndup(s->arena, image, first);
	bool has_host = strpbrk(host, ".:") || strcmp(host, "localhost") == 0;
	const char *rest = has_host ? slash + 1 : image;

	if (has_host && strcmp(host, "docker.io") != 0)
		return image;
	return arena_printf(s->arena, "docker.io/%s%s", strchr(rest, '/') ? "" : "library/", rest);
}

/* One thing that is asked of a registry about an image. */
struct request {
	const char *layout; /* NULL: its digest alone is wanted */
	struct descriptor *manifest;
};

static int stage_build_ask(struct registry *registry, const struct reference *ref,
			   const struct request *request, struct error *err)
{
	struct pull_report report;
	bool found;

	if (request->layout)
		return registry_pull(registry, ref, request->layout, NULL, &report,
				     request->manifest, err);
	if (registry_head_manifest(registry, ref, request->manifest, &found, err) < 0)
		return -1;
	return found ? 0
		     : error_set(err, ERROR_FAILED, "%s has no %s:%s", ref->registry,
				 ref->repository, reference_target(ref));
}

static int ask_mirror(struct stages *s, const struct mirror *from, const struct request *request,
		      struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	const struct remote_options options = {.plain_http = from->plain_http};

	if (remote_open(s->ctx, &options, from->ref.registry, &registry, err) < 0)
		return -1;
	return stage_build_ask(registry, &from->ref, request, err);
}

static int ask_mirrors(struct stages *s, const char *image, const struct request *request,
		       struct error *err)
{
	struct mirrors mirrors;
	struct reference ref;

	if (reference_parse(stage_build_full_name(s, image), s->arena, &ref, err) < 0 ||
	    mirrors_find(&ref, s->cluster.mirrors.docker, s->arena, &mirrors, err) < 0)
		return -1;
	for (size_t i = 0; i < mirrors.count; i++) {
		if (ask_mirror(s, &mirrors.list[i], request, err) == 0)
			return 0;
		if (!remote_asks_next(&mirrors, i, err))
			break;
	}
	return -1;
}

static int stage_build_fetch(void *arg, const char *image, const char *layout,
			     struct descriptor *manifest, struct error *err)
{
	return ask_mirrors(arg, image, &(struct request){layout, manifest}, err);
}

int stage_digest(struct stages *s, const char *image, struct descriptor *manifest,
		 struct error *err)
{
	return ask_mirrors(s, image, &(struct request){NULL, manifest}, err);
}

void stage_build_options(struct stages *s, struct build_options *options)
{
	*options = (struct build_options){
		.cache_folder = stage_cache_folder(s), .fetch = stage_build_fetch, .fetch_arg = s};
}

int stage_build(struct stages *s, const struct build_request *request, struct image *image,
		struct error *err)
{
	struct build_options options;

	stage_build_options(s, &options);
	if (request) {
		options.engine = request->engine;
		options.shell_on_failure = request->shell_on_failure;
		options.on = request->on;
	}
	return build_image(&s->cluster, s->spec, &options, s->arena, image, err);
}
