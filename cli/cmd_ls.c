/* SPDX-License-Identifier: MIT */
#include "cli/app/place.h"
#include "cli/app/remote.h"

#include "core/json.h"
#include "core/str.h"
#include "core/term.h"
#include "registry-client/list.h"

#include <string.h>

struct options {
	struct remote_options remote;
};

static const struct opt options[] = {
	REMOTE_OPTIONS(struct options, remote),
	OPT_END,
};

static void ls_print(struct context *ctx, const char *what, const struct words *names)
{
	_cleanup_(json_free) cJSON *json = NULL;
	cJSON *list;

	if (!ctx->json) {
		for (size_t i = 0; i < names->count; i++) {
			term_text(names->list[i], stdout);
			putchar('\n');
		}
		return;
	}
	json = json_document();
	list = cJSON_AddArrayToObject(json, what);
	for (size_t i = 0; i < names->count; i++)
		cJSON_AddItemToArray(list, cJSON_CreateString(names->list[i]));
	json_print(stdout, json);
}

static int ls_run(struct context *ctx, void *values, const char *const *arguments,
		  struct error *err)
{
	_cleanup_(registry_closep) struct registry *registry = NULL;
	const struct options *o = values;
	const char *text = arguments[0];
	struct words names = WORDS_INIT(ctx->arena);
	struct reference ref = {0};

	if (starts_with(text, "docker://"))
		text += strlen("docker://");
	if (strchr(text, '/')) {
		if (place_parse_reference(text, ctx->arena, &ref, err) < 0)
			return -1;
	} else {
		ref.registry = text;
	}
	if (remote_open(ctx, &o->remote, ref.registry, &registry, err) < 0)
		return -1;
	if (ref.repository ? registry_list_tags(registry, &ref, &names, err) < 0
			   : registry_list_repositories(registry, &names, err) < 0)
		return -1;
	ls_print(ctx, ref.repository ? "tags" : "repositories", &names);
	return 0;
}

const struct command command_ls = {
	.name = "ls",
	.arguments = "REGISTRY[/NAME]",
	.summary = "lists a registry's repositories, or a repository's tags",
	.help = "  ringup ls registry.lab:5000\n  ringup ls registry.lab:5000/team/train\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.min_arguments = 1,
	.max_arguments = 1,
	.run = ls_run,
};
