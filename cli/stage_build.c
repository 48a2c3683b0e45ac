/* SPDX-License-Identifier: MIT */
/* Spec -> image, with base images from registries. */
#include "cli/stages.h"

#include "cli/remote.h"
#include "core/log.h"
#include "registry-client/pull.h"

#include <string.h>

#define DOCKER_HUB "registry-1.docker.io"

/* Docker's names are short: "centos:7" is library/centos of Docker Hub, or of its mirror. */
static const char *full_name(struct stages *s, const char *image)
{
	const char *slash = strchr(image, '/');
	size_t first = slash ? (size_t)(slash - image) : 0;
	const char *host = arena_strndup(s->arena, image, first);
	const char *mirror = s->cluster.mirrors.docker, *rest = image;
	bool has_host = strpbrk(host, ".:") || strcmp(host, "localhost") == 0;

	if (has_host && strcmp(host, "docker.io") != 0)
		return image;
	if (has_host)
		rest = slash + 1;
	if (starts_with(mirror, "https://") || starts_with(mirror, "http://"))
		mirror = strstr(mirror, "//") + 2;
	return arena_printf(s->arena, "%.*s/%s%s", (int)strcspn(*mirror ? mirror : DOCKER_HUB, "/"),
			    *mirror ? mirror : DOCKER_HUB, strchr(rest, '/') ? "" : "library/",
			    rest);
}

static int fetch(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		 struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	struct stages *s = arg;
	struct remote_options options = {.plain_http =
						 starts_with(s->cluster.mirrors.docker, "http://")};
	struct pull_report report;
	struct reference ref;

	if (reference_parse(full_name(s, image), s->arena, &ref, err) < 0 ||
	    remote_open(s->ctx, &options, ref.registry, &registry, err) < 0)
		return -1;
	return registry_pull(registry, &ref, layout, NULL, &report, manifest, err);
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
