/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/place.h"
#include "cli/app/registry_access.h"

#include "core/foreign.h"
#include "core/json.h"
#include "registry-client/manifest.h"
#include "registry-client/remove.h"

struct options {
	struct access_options access;
	bool all_tags, dry_run;
};

static const struct opt options[] = {
	{0, "all-tags", NULL, "remove the manifest with every tag that names it", OPT_FLAG,
	 offsetof(struct options, all_tags)},
	{0, "dry-run", NULL, "print what would be removed", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	ACCESS_OPTIONS(struct options, access),
	OPT_END,
};

static int rm_show(struct context *ctx, struct registry *registry, struct reference *ref,
		   bool all_tags, struct error *err)
{
	struct descriptor manifest;
	bool found;

	if (registry_head_manifest(registry, ref, &manifest, &found, err) < 0)
		return -1;
	if (!found)
		return error_set(err, ERROR_FAILED, "there is no image %s; 'ringup ls' lists tags",
				 reference_text(ref, ctx->arena));
	if (all_tags)
		ref->digest = arena_strdup(ctx->arena, manifest.digest);
	command_print_script(
		ctx, arena_printf(ctx->arena, "ringup rm %s\n", reference_text(ref, ctx->arena)));
	return 0;
}

static int rm_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	_cleanup_(json_free) cJSON *json = NULL;
	const struct options *o = values;
	struct removed removed;
	struct reference ref;

	if (place_parse_reference(arguments[0], ctx->arena, &ref, err) < 0)
		return -1;
	if (!ref.tag && !ref.digest)
		return error_set(
			err, ERROR_USAGE,
			"name a tag or a digest: %s:TAG or %s@sha256:...; 'ringup ls' lists tags",
			arguments[0], arguments[0]);
	if (access_open(ctx, &o->access, &ref, &registry, err) < 0)
		return -1;
	if (o->dry_run)
		return rm_show(ctx, registry, &ref, o->all_tags, err);
	if (registry_remove(registry, &ref, o->all_tags, ctx->arena, &removed, err) < 0)
		return -1;
	if (!ctx->json) {
		say("%s removed%s%s\n", reference_text(&ref, ctx->arena),
		    removed.by_digest && !ref.digest ? ", with its manifest " : "",
		    removed.by_digest && !ref.digest ? removed.digest : "");
		return 0;
	}
	json = json_document();
	cJSON_AddStringToObject(json, "image", reference_text(&ref, ctx->arena));
	cJSON_AddStringToObject(json, "digest", removed.digest);
	cJSON_AddBoolToObject(json, "manifest_removed", removed.by_digest);
	json_print(stdout, json);
	return 0;
}

const struct command command_rm = {
	.name = "rm",
	.arguments = "REF",
	.summary = "removes an image from a registry",
	.help = "With a tag, that tag is removed; with a digest, the manifest and every tag that names it. Some\n"
		"registries delete only by digest (Distribution 2.8). There the manifest is deleted only when no\n"
		"other tag names it, or with --all-tags. The registry's garbage collection frees the space.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = rm_run,
};
