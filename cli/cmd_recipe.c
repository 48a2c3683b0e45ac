/* SPDX-License-Identifier: MIT */
#include "cli/stages.h"

#include "builder/context.h"

struct options {
	const char *output;
};

static const struct opt options[] = {
	{'o', "output", "DIR", "write the Dockerfile and its context there", OPT_TEXT,
	 offsetof(struct options, output)},
	OPT_END,
};

static int run(struct context *ctx, void *values, const char *const *arguments, struct error *err)
{
	const struct options *o = values;
	struct stages s;

	if (stage_cluster(&s, ctx, err) < 0 ||
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
	.help = "With -o DIR the whole build context is written, so that any builder can take "
		"it.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = run,
};
