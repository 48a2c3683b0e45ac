/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"

static int help_run(struct context *ctx, void *options, const char *const *arguments,
		    struct error *err)
{
	const struct command *command;

	(void)ctx;
	(void)options;
	if (!arguments[0]) {
		command_print_list();
		return 0;
	}
	command = command_find(arguments[0]);
	if (!command)
		return error_set(err, ERROR_USAGE,
				 "there is no command '%s'; 'ringup help' lists them",
				 arguments[0]);
	command_print_help(command);
	return 0;
}

const struct command command_help = {
	.name = "help",
	.arguments = "[COMMAND]",
	.summary = "this list, or one command's page",
	.help = "",
	.max_arguments = 1,
	.run = help_run,
};
