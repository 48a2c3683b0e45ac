/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/place.h"
#include "cli/app/registry_access.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/str.h"
#include "core/term.h"
#include "registry-client/list.h"

#include <string.h>

struct options {
	struct access_options access;
};

static const struct opt options[] = {
	ACCESS_OPTIONS(struct options, access),
	OPT_END,
};

static void ls_print(struct context *ctx, const char *what, const struct words *names)
{
	_cleanup_(json_free) cJSON *json = NULL;
	cJSON *list;

	if (!ctx->json) {
		for (size_t i = 0; i < names->count; i++) {
			say_value(names->list[i]);
			say("\n");
		}
		return;
	}
	json = json_document();
	list = cJSON_AddArrayToObject(json, what);
	for (size_t i = 0; i < names->count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(names->list[i]));
	json_print(stdout, json);
}

/* What is asked of one registry after another. */
struct ls {
	struct context *ctx;
	const struct access_options *access;
	struct words *names;
};

static int ls_tags(void *arg, const struct mirror *place, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	const struct ls *ls = arg;

	return access_open_place(ls->ctx, ls->access, place, &registry, err) < 0
		       ? -1
		       : registry_list_tags(registry, &place->ref, ls->names, err);
}

/* Of the registry itself: no mirror stands for all of it. */
static int ls_repositories(const struct ls *ls, const char *address, struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	const struct reference ref = {.registry = address};

	return access_open(ls->ctx, ls->access, &ref, &registry, err) < 0
		       ? -1
		       : registry_list_repositories(registry, ls->names, err);
}

static int ls_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	const struct options *o = values;
	const char *text = arguments[0];
	struct words names = WORDS_INIT(ctx->arena);
	struct ls ls = {ctx, &o->access, &names};
	struct reference ref;
	bool has_repository;

	if (starts_with(text, "docker://"))
		text += strlen("docker://");
	has_repository = strchr(text, '/') != NULL;
	if (has_repository ? place_parse_reference(text, ctx->arena, &ref, err) < 0 ||
				     access_read(ctx, &ref, ls_tags, &ls, err) < 0
			   : ls_repositories(&ls, text, err) < 0)
		return -1;
	ls_print(ctx, has_repository ? "tags" : "repositories", &names);
	return 0;
}

const struct command command_ls = {
	.name = "ls",
	.arguments = "REGISTRY[/NAME]",
	.summary = "lists a registry's repositories, or a repository's tags",
	.help = "Tags are asked of the mirrors that this machine has for the registry, then of the registry.\n\n"
		"  ringup ls registry.lab:5000\n"
		"  ringup ls registry.lab:5000/team/train\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = ls_run,
};
