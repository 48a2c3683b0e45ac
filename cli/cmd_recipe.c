/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_build.h"
#include "cli/app/stage_facts.h"
#include "cli/app/stage_pin.h"
#include "cli/app/stage_plan.h"

#include "builder/context.h"
#include "builder/recipe/recipe.h"
#include "core/file.h"
#include "core/log.h"
#include "core/foreign.h"

#include <string.h>
#include <sys/stat.h>

#define SCRIPT_NAME "install.sh"

struct options {
	bool pin, no_facts;
	const char *output, *format, *arch;
	struct words allow;
};

static const struct opt options[] = {
	{'o', "output", "DIR", "write the Dockerfile and its context there", OPT_TEXT,
	 offsetof(struct options, output)},
	{0, "format", "FORMAT", "dockerfile (default), or script: the same stack for a bare host",
	 OPT_TEXT, offsetof(struct options, format)},
	{0, "pin", NULL, "ask for exact versions and digests first, as 'resolve --pin'", OPT_FLAG,
	 offsetof(struct options, pin)},
	ARCH_OPTION(struct options, arch),
	ALLOW_OPTION(struct options, allow),
	FACTS_OPTION(struct options, no_facts),
	OPT_END,
};

/* Writes a context, and gives the script in the Dockerfile's place its own name. */
static int write_script(const struct spec *spec, const char *folder, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *first = arena_printf(&arena, "%s/Dockerfile", folder);
	const char *script = arena_printf(&arena, "%s/" SCRIPT_NAME, folder);

	if (file_exists(first))
		return error_set(err, ERROR_USAGE,
				 "%s is there: give the script a folder of its own", first);
	if (context_write_folder(spec, folder, err) < 0)
		return -1;
	if (chmod(first, 0755) < 0 || rename(first, script) < 0)
		return error_errno(err, "cannot write %s", script);
	return 0;
}

static int give_script(struct stages *s, const char *output, struct error *err)
{
	s->spec = ARENA_NEW(s->arena, struct spec);
	if (recipe_render_script(&s->cluster, &s->plan, &s->catalog, s->arena, s->spec, err) < 0 ||
	    (output && write_script(s->spec, output, err) < 0))
		return -1;
	if (s->ctx->json) {
		_cleanup_(json_free) cJSON *json = json_document();

		cJSON_AddStringToObject(json, "os", s->spec->os);
		cJSON_AddStringToObject(json, "script", s->spec->dockerfile);
		json_print(stdout, json);
	} else if (!output) {
		say_data(s->spec->dockerfile, strlen(s->spec->dockerfile));
	} else {
		say("%s holds " SCRIPT_NAME " and %zu files\n", output, s->spec->file_count);
	}
	return 0;
}

static int recipe_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	const struct options *o = values;
	bool script = o->format && strcmp(o->format, "script") == 0;
	struct stages s;

	if (o->format && !script && strcmp(o->format, "dockerfile") != 0)
		return error_set(err, ERROR_USAGE, "--format is dockerfile or script, and not '%s'",
				 o->format);
	if (o->pin && script)
		return error_set(err, ERROR_USAGE,
				 "--pin is for images: a bare host keeps the versions that it has");
	/* With REQ words no cluster file is needed: what it would say of the image is as by default. */
	if ((*arguments ? stage_cluster_or_defaults : stage_cluster)(&s, ctx, err) < 0)
		return -1;
	s.allow = o->allow;
	s.no_facts = o->no_facts;
	s.arch = o->arch;
	if ((*arguments ? stage_resolve(&s, arguments, err) : stage_plan(&s, err)) < 0)
		return -1;
	if (*arguments)
		stage_print_notes(&s);
	if (s.plan.other)
		log_info("this is the recipe for %s; --arch %s gives the other one",
			 plan_arch(&s.plan), plan_arch(s.plan.other));
	s.plan.other = NULL;
	if (o->pin && stage_pin(&s, err) < 0)
		return -1;
	if (script)
		return give_script(&s, o->output, err);
	if (stage_recipe(&s, err) < 0)
		return -1;
	if (o->output && context_write_folder(s.spec, o->output, err) < 0)
		return -1;
	if (ctx->json) {
		_cleanup_(json_free) cJSON *json = spec_to_json(s.spec);

		json_print(stdout, json);
	} else if (!o->output) {
		say_data(s.spec->dockerfile, strlen(s.spec->dockerfile));
	} else {
		say("%s holds the Dockerfile and %zu files\n", o->output, s.spec->file_count);
	}
	return 0;
}

const struct command command_recipe = {
	.name = "recipe",
	.arguments = "[REQ...]",
	.summary = "prints the Dockerfile of the stack, or a script for a bare host",
	.help = "Without REQ it is the cluster file's stack, as ringup.lock has it.\n"
		"With -o DIR the whole build context is written, so that any builder can use it.\n"
		"With --format script it is a script that installs the same stack on a bare host, as root; with\n"
		"-o DIR it becomes DIR/install.sh, beside the worker's sources and the files of image.files.\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = recipe_run,
};
