/* SPDX-License-Identifier: MIT */
#include "cli/stages.h"

#include "core/log.h"

struct options {
	bool dry_run;
};

static const struct opt options[] = {
	{0, "dry-run", NULL, "print what would be done, as commands", OPT_FLAG,
	 offsetof(struct options, dry_run)},
	OPT_END,
};

static int print_commands(struct stages *s, struct error *err)
{
	struct build_options build = {.cache_folder = stage_cache_folder(s)};
	_cleanup_(str_release) struct str out = {0};

	str_init(&out);
	if (build_commands(&s->cluster, s->spec, &build, s->arena, &out, err) < 0)
		return -1;
	command_print_script(s->ctx, out.text);
	return 0;
}

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	const struct options *o = values;
	struct image image;
	struct stages s;

	(void)arguments;
	if (stage_cluster(&s, ctx, err) < 0 || stage_plan(&s, err) < 0 || stage_recipe(&s, err) < 0)
		return -1;
	if (o->dry_run)
		return print_commands(&s, err);
	if (stage_build(&s, &image, err) < 0)
		return -1;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "image", image.name);
		cJSON_AddStringToObject(json, "engine", image.backend->name);
		cJSON_AddStringToObject(json, "recipe", s.spec->hash);
		cJSON_AddBoolToObject(json, "built", image.built);
		json_print(stdout, json);
	} else {
		printf("%s %s\n", image.name, image.built ? "built" : "is there already");
	}
	return 0;
}

const struct command command_build = {
	.name = "build",
	.arguments = "",
	.summary = "builds the image of the stack",
	.help = "Builds on the engine of cluster.yaml's `build`; the base root filesystem is made "
		"first when\n"
		"it is missing. Nothing is done when the engine keeps an image of the same "
		"content.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.run = run,
};
