/* SPDX-License-Identifier: MIT */
#include "cli/app/stage_build.h"

#include "builder/recipe/recipe.h"
#include "cli/app/registry_access.h"
#include "cli/app/stage_plan.h"
#include "core/log.h"
#include "registry-client/manifest.h"
#include "registry-client/pull.h"

#include <string.h>

static int stage_build_render(struct stages *s, const struct plan *plan, struct spec **spec,
			      struct error *err)
{
	*spec = ARENA_NEW(s->arena, struct spec);
	if (recipe_render(&s->cluster, plan, &s->catalog, s->arena, *spec, err) < 0)
		return -1;
	if (*(*spec)->unpinned)
		log_warn("%s: not pinned: %s; 'ringup resolve --pin' asks for their versions",
			 stage_lock_path(s), (*spec)->unpinned);
	return 0;
}

int stage_recipe(struct stages *s, struct error *err)
{
	if (stage_build_render(s, &s->plan, &s->spec, err) < 0)
		return -1;
	s->other_spec = NULL;
	s->recipe = s->spec->hash;
	if (!s->plan.other)
		return 0;
	if (stage_build_render(s, s->plan.other, &s->other_spec, err) < 0)
		return error_wrap(err, "for %s", plan_arch(s->plan.other));
	s->recipe = spec_hash_both(s->spec, s->other_spec, s->arena);
	return 0;
}

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
	struct stages *stages;
	const char *layout;   /* to pull it into; NULL: only its digest is wanted */
	const char *platform; /* the image of an index; NULL: linux/amd64 */
	struct descriptor *manifest;
};

static int stage_build_ask(void *arg, const struct mirror *place, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	const struct request *request = arg;
	const struct reference *ref = &place->ref;
	struct pull_report report;
	bool found;

	if (access_open_place(request->stages->ctx, NULL, place, &registry, err) < 0)
		return -1;
	if (request->layout)
		return registry_pull(registry, ref, request->layout, request->platform, &report,
				     request->manifest, err);
	if (registry_head_manifest(registry, ref, request->manifest, &found, err) < 0)
		return -1;
	return found ? 0
		     : error_set(err, ERROR_FAILED, "%s has no %s:%s", ref->registry,
				 ref->repository, reference_target(ref));
}

static int stage_build_read(struct stages *s, const char *image, struct request *request,
			    struct error *err)
{
	struct reference ref;

	if (reference_parse(stage_build_full_name(s, image), s->arena, &ref, err) < 0)
		return -1;
	return access_read(s->ctx, &ref, stage_build_ask, request, err);
}

/* Who asks for base images, and for which processor. */
struct stage_build_base {
	struct stages *stages;
	const char *platform;
};

static int stage_build_fetch(void *arg, const char *image, const char *layout,
			     struct descriptor *manifest, struct error *err)
{
	const struct stage_build_base *base = arg;

	return stage_build_read(base->stages, image,
				&(struct request){base->stages, layout, base->platform, manifest},
				err);
}

int stage_digest(struct stages *s, const char *image, struct descriptor *manifest,
		 struct error *err)
{
	return stage_build_read(s, image, &(struct request){s, NULL, NULL, manifest}, err);
}

void stage_build_options(struct stages *s, const struct spec *spec, struct build_options *options)
{
	struct stage_build_base *base = ARENA_NEW(s->arena, struct stage_build_base);

	*base = (struct stage_build_base){
		s,
		*spec->arch ? arena_printf(s->arena, "linux/%s", arch_of_image(spec->arch)) : NULL};
	*options = (struct build_options){.cache_folder = stage_cache_folder(s),
					  .fetch = stage_build_fetch,
					  .fetch_arg = base,
					  .limits = &s->limits};
}

int stage_build(struct stages *s, const struct spec *spec, const struct build_request *request,
		struct image *image, struct error *err)
{
	struct build_options options;

	stage_build_options(s, spec, &options);
	if (request) {
		options.engine = request->engine;
		options.shell_on_failure = request->shell_on_failure;
		options.on = request->on;
	}
	return build_image(&s->cluster, spec, &options, s->arena, image, err);
}
