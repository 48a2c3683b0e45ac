/* SPDX-License-Identifier: MIT */
/* Spec -> image, with base images from registries. */
#include "cli/stages.h"

#include "cli/remote.h"
#include "registry-client/mirrors.h"
#include "registry-client/pull.h"

#include <string.h>

/* Docker's names are short: "centos:7" is library/centos of Docker Hub. */
static const char *full_name(struct stages *s, const char *image)
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

static int fetch_from(struct stages *s, const struct mirror *from, const char *layout,
		      struct descriptor *manifest, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	const struct remote_options options = {.plain_http = from->plain_http};
	struct pull_report report;

	if (remote_open(s->ctx, &options, from->ref.registry, &registry, err) < 0)
		return -1;
	return registry_pull(registry, &from->ref, layout, NULL, &report, manifest, err);
}

static int fetch(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		 struct error *err)
{
	struct stages *s = arg;
	struct mirrors mirrors;
	struct reference ref;

	if (reference_parse(full_name(s, image), s->arena, &ref, err) < 0 ||
	    mirrors_find(&ref, s->cluster.mirrors.docker, s->arena, &mirrors, err) < 0)
		return -1;
	for (size_t i = 0; i < mirrors.count; i++) {
		if (fetch_from(s, &mirrors.list[i], layout, manifest, err) == 0)
			return 0;
		if (!remote_asks_next(&mirrors, i, err))
			break;
	}
	return -1;
}

int stage_build(struct stages *s, const struct build_request *request, struct image *image,
		struct error *err)
{
	struct build_options options = {
		.cache_folder = stage_cache_folder(s),
		.engine = request ? request->engine : NULL,
		.shell_on_failure = request && request->shell_on_failure,
		.on = request ? request->on : NULL,
		.fetch = fetch,
		.fetch_arg = s,
	};

	return build_image(&s->cluster, s->spec, &options, s->arena, image, err);
}
