/* SPDX-License-Identifier: MIT */
/*
 * command.h - a subcommand: one const record per cli/cmd_NAME.c, found by its file's name.
 *
 * Help, parsing and the list in `ringup help` all come from the record. Results go to stdout,
 * everything else to stderr (core/log.h).
 */
#ifndef CLI_APP_COMMAND_H
#define CLI_APP_COMMAND_H

#include "cli/app/context.h"
#include "core/opt.h"
#include "core/str.h"

struct command {
	const char *name;
	const char *arguments; /* "[REQ...]"; "" when it takes none */
	const char *summary;   /* one line, for the list */
	const char *help;      /* paragraphs and examples, each line ends in \n */
	const struct opt *options;
	size_t options_bytes; /* of the struct that the options fill in; zeroed before */
	int min_arguments, max_arguments; /* max -1: any number */
	bool stop_at_argument;		  /* the first argument ends the options (exec) */
	/* Adds the text for a place "@{NAME}" in the help or an option's help: names that come from
	 * other records. NULL: there are no places. */
	void (*fill)(const char *name, struct str *out);
	int (*run)(struct context *ctx, void *options, const char *const *arguments,
		   struct error *err);
};

/* All commands in the order of their names, NULL-terminated. */
extern const struct command *const commands[];

const struct command *command_find(const char *name);

/* Prints the command's help page. */
void command_print_help(const struct command *command);

/* Prints what a dry run found: commands, one a line, or {"schema", "commands": [...]}. */
void command_print_script(const struct context *ctx, const char *lines);

/* Prints the list of commands. */
void command_print_list(void);

#endif
