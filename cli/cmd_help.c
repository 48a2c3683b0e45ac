/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"

#include "core/foreign.h"
#include "core/json.h"
#include "plan/cluster.h"

#include <string.h>

static void help_print_keys(const struct yaml_key *keys, size_t count)
{
	say("%s\n",
	    "Keys of cluster.yaml with their defaults, and what they mean. A default in brackets is no\n"
	    "value that could be written. docs/cluster.yaml.md says more.\n");
	for (size_t i = 0; i < count; i++) {
		const struct yaml_row *row = keys[i].row;

		say(row->value ? "%s: %s\n" : "%s: (%s)\n", keys[i].path, yaml_row_default(row));
		say("    %s\n", row->help);
	}
}

static void help_print_keys_json(const struct yaml_key *keys, size_t count)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list = cJSON_AddArrayToObject(json, "keys");

	for (size_t i = 0; i < count; i++) {
		const struct yaml_row *row = keys[i].row;
		cJSON *item = cJSON_CreateObject();

		cJSON_AddItemToArray(list, item);
		cJSON_AddStringToObject(item, "key", keys[i].path);
		if (row->value)
			cJSON_AddStringToObject(item, "default", row->value);
		else
			cJSON_AddStringToObject(item, "note", row->note);
		cJSON_AddStringToObject(item, "help", row->help);
	}
	json_print(stdout, json);
}

static int help_on_cluster_file(const struct context *ctx)
{
	struct yaml_key *keys;
	size_t count = yaml_keys(cluster_rows, ctx->arena, &keys);

	if (ctx->json)
		help_print_keys_json(keys, count);
	else
		help_print_keys(keys, count);
	return 0;
}

/* "hosts trust": the second word is one of the command's own. */
static bool help_knows(const struct command *command, const char *word, struct arena *arena)
{
	return strstr(arena_printf(arena, "|%s|", command->arguments),
		      arena_printf(arena, "|%s|", word)) != NULL;
}

static int help_run(struct context *ctx, void *options, const char *const *arguments,
		    struct error *err)
{
	const struct command *command;

	(void)options;
	if (!arguments[0]) {
		command_print_list();
		return 0;
	}
	if (strcmp(arguments[0], "cluster.yaml") == 0)
		return help_on_cluster_file(ctx);
	command = command_find(arguments[0]);
	if (!command)
		return error_set(err, ERROR_USAGE,
				 "there is no command '%s'; 'ringup help' lists them",
				 arguments[0]);
	if (arguments[1] && !help_knows(command, arguments[1], ctx->arena))
		return error_set(err, ERROR_USAGE, "'ringup %s' has no '%s'; see 'ringup help %s'",
				 command->name, arguments[1], command->name);
	command_print_help(command);
	return 0;
}

const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND|cluster.yaml]",
	.summary = "this list, one command's page, or the keys of cluster.yaml",
	.help = "",
	.max_arguments = 2,
	.run = help_run,
};
