/* SPDX-License-Identifier: MIT */
#include "cli/stages.h"

#include "builder/context.h"
#include "core/file.h"

struct options {
	const char *output;
};

static const struct opt options[] = {
	{'o', "output", "DIR", "write the Dockerfile and its context there", OPT_TEXT,
	 offsetof(struct options, output)},
	OPT_END,
};

/* With REQ words no cluster file is needed: what it would say of the image is as by default. */
static int start(struct stages *s, struct context *ctx, bool asked, struct error *err)
{
	if (!asked || ctx->cluster_named || file_exists(ctx->cluster_path))
		return stage_cluster(s, ctx, err);
	*s = (struct stages){.ctx = ctx, .arena = ctx->arena};
	cluster_init(ctx->cluster_path, s->arena, &s->cluster);
	return 0;
}

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	const struct options *o = values;
	struct stages s;

	if (start(&s, ctx, *arguments != NULL, err) < 0 ||
	    (*arguments ? stage_resolve(&s, arguments, err) : stage_plan(&s, err)) < 0 ||
	    stage_recipe(&s, err) < 0)
		return -1;
	if (o->output && context_write_folder(s.spec, o->output, err) < 0)
		return -1;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = spec_to_json(s.spec);

		json_print(stdout, json);
	} else if (!o->output) {
		fputs(s.spec->dockerfile, stdout);
	} else {
		printf("%s holds the Dockerfile and %zu files\n", o->output, s.spec->file_count);
	}
	return 0;
}

const struct command command_recipe = {
	.name = "recipe",
	.arguments = "[REQ...]",
	.summary = "prints the Dockerfile of the stack",
	.help = "Without REQ that of the cluster file's stack, as ringup.lock has it.\n"
		"With -o DIR the whole build context is written, so that any builder can take "
		"it.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = run,
};
