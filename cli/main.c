/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"

#include "core/clock.h"
#include "core/foreign.h"
#include "core/json.h"
#include "core/log.h"
#include "core/proc.h"
#include "core/str.h"
#include "core/term.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define X(name) extern const struct command command_##name;
#include "cmd.list"
#undef X

const struct command *const commands[] = {
#define X(name) &command_##name,
#include "cmd.list"
#undef X
	NULL};

struct globals {
	const char *cluster, *color, *catalog;
	int timeout_s, jobs;
	bool json, verbose, quiet, help, version;
};

#define AT(member) offsetof(struct globals, member)
static const struct opt global_options[] = {
	{'f', "file", "FILE", "cluster file (cluster.yaml)", OPT_TEXT, AT(cluster)},
	{0, "json", NULL, "print exactly one JSON document on stdout", OPT_FLAG, AT(json)},
	{'v', "verbose", NULL, "say more", OPT_FLAG, AT(verbose)},
	{'q', "quiet", NULL, "print only warnings and errors", OPT_FLAG, AT(quiet)},
	{0, "color", "WHEN", "auto, always or never", OPT_TEXT, AT(color)},
	{0, "catalog", "DIR", "rows of your own for the catalog, read before the installed ones",
	 OPT_TEXT, AT(catalog)},
	{0, "timeout", "S", "seconds to connect to a host (15), or for a registry to answer (60)",
	 OPT_INT, AT(timeout_s)},
	{0, "jobs", "N", "hosts worked on at once (64)", OPT_INT, AT(jobs)},
	{'h', "help", NULL, "this page", OPT_FLAG, AT(help)},
	{0, "version", NULL, "print the version", OPT_FLAG, AT(version)},
	OPT_END,
};
#undef AT

const struct command *command_find(const char *name)
{
	for (const struct command *const *c = commands; *c; c++)
		if (strcmp((*c)->name, name) == 0)
			return *c;
	return NULL;
}

/* The page as the record has it, with its places still in it. The caller frees it. */
static char *main_page(const struct command *command)
{
	char *page = NULL;
	size_t length;
	FILE *out = open_memstream(&page, &length);

	if (!out)
		oom();
	fprintf(out, "usage: ringup [GLOBAL OPTIONS] %s%s%s%s\n\n%s.\n\n%s", command->name,
		command->options ? " [OPTIONS]" : "", *command->arguments ? " " : "",
		command->arguments, command->summary, command->help);
	if (command->options) {
		fputs("\noptions:\n", out);
		opt_help(command->options, out);
	}
	fputs("\n'ringup help' lists the global options.\n", out);
	fclose(out);
	return page;
}

void command_print_help(const struct command *command)
{
	_cleanup_(free_pointer) char *page = main_page(command);
	const char *rest = page, *place;

	while (command->fill && (place = strstr(rest, "@{"))) {
		_cleanup_(str_release) struct str name = STR_INIT, text = STR_INIT;

		str_add_bytes(&name, place + 2, strcspn(place + 2, "}"));
		command->fill(name.text, &text);
		say("%.*s%s", (int)(place - rest), rest, text.text);
		rest = place + 2 + name.length + 1;
	}
	say("%s", rest);
}

void command_print_list(void)
{
	say("%s\n",
	    "usage: ringup [GLOBAL OPTIONS] COMMAND ...\n\n"
	    "Turns a list of GPU hosts into a working distributed-training cluster.\n\ncommands:");
	for (const struct command *const *c = commands; *c; c++)
		say("  %-10s %s\n", (*c)->name, (*c)->summary);
	say("\nglobal options, before or after the command:\n");
	opt_help(global_options, stdout);
	say("%s\n",
	    "\nexit status: 0 done; 1 failed; 2 usage or bad input file; 3 no stack satisfies the request;\n"
	    "4 some hosts failed, others are fine; 5 the cluster works but the verdict is bad;\n"
	    "130 interrupted\n\n'ringup help COMMAND' says more.");
}

void command_print_script(const struct context *ctx, const char *lines)
{
	_cleanup_(json_free) cJSON *json = NULL;
	char *copy = arena_strdup(ctx->arena, lines), *line;
	cJSON *list;

	if (!ctx->json) {
		say("%s", lines);
		return;
	}
	json = json_document();
	list = cJSON_AddArrayToObject(json, "commands");
	while ((line = strsep(&copy, "\n")))
		if (*line && *line != '#')
			cJSON_AddItemToArray(list, cJSON_CreateString(line));
	json_print(stdout, json);
}

/* What other tools call it. */
static const char *other_name(const char *name)
{
	static const char *const others[][2] = {
		{"kill", "stop"},    {"cancel", "stop"},  {"scancel", "stop"}, {"squeue", "ps"},
		{"jobs", "ps"},	     {"images", "ls"},	  {"tag", "copy"},     {"start", "up"},
		{"srun", "run"},     {"sbatch", "run"},	  {"attach", "logs"},  {"deploy", "up"},
		{"destroy", "down"}, {"teardown", "down"}};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strcmp(name, others[i][0]) == 0)
			return others[i][1];
	return NULL;
}

static int unknown_command(const char *name, struct error *err)
{
	const char *names[64];
	size_t count = 0;
	const char *near;

	for (const struct command *const *c = commands; *c && count < 63; c++)
		names[count++] = (*c)->name;
	names[count] = NULL;
	near = other_name(name);
	if (!near)
		near = nearest_word(name, names);
	return error_set(err, ERROR_USAGE,
			 near ? "there is no command '%s'; did you mean '%s'?"
			      : "there is no command '%s'; 'ringup help' lists them%s",
			 name, near ? near : "");
}

/* The command's options and the global ones as one table: both may stand after the command. */
struct merged {
	struct opt rows[48];
	size_t count;
};

static void main_merge(struct merged *merged, const struct opt *rows, size_t offset)
{
	for (; rows && rows->name && merged->count + 1 < ARRAY_LEN(merged->rows); rows++) {
		merged->rows[merged->count] = *rows;
		merged->rows[merged->count++].offset += offset;
	}
}

static int check_arguments(const struct command *command, const struct words *arguments,
			   struct error *err)
{
	int count = (int)arguments->count;

	if (count < command->min_arguments)
		return error_set(err, ERROR_USAGE, "usage: ringup %s %s; see 'ringup help %s'",
				 command->name, command->arguments, command->name);
	if (command->max_arguments >= 0 && count > command->max_arguments)
		return error_set(err, ERROR_USAGE,
				 "'%s' is one argument too many; see 'ringup help %s'",
				 arguments->list[command->max_arguments], command->name);
	return 0;
}

static int main_apply(const struct globals *globals, struct context *ctx, struct error *err)
{
	const char *color = globals->color ? globals->color : "auto";

	ctx->cluster_path = globals->cluster ? globals->cluster : "cluster.yaml";
	ctx->cluster_named = globals->cluster != NULL;
	ctx->json = globals->json;
	ctx->timeout_s = globals->timeout_s;
	ctx->catalog = globals->catalog;
	ctx->jobs = globals->jobs;
	log_setup(globals->quiet     ? LOG_QUIET
		  : globals->verbose ? LOG_VERBOSE
				     : LOG_NORMAL,
		  term_color(stderr, color));
	if (strcmp(color, "auto") != 0 && strcmp(color, "always") != 0 &&
	    strcmp(color, "never") != 0)
		return error_set(err, ERROR_USAGE, "--color takes auto, always or never, not '%s'",
				 color);
	return 0;
}

static int run_command(const struct command *command, const char *const *words,
		       struct globals *globals, struct context *ctx, struct error *err)
{
	static const char *const none[] = {NULL};
	struct merged merged = {.count = 0};
	struct words arguments = WORDS_INIT(ctx->arena);
	/* one block: the globals, then the command's own struct */
	size_t own = (sizeof(*globals) + 15) & ~(size_t)15;
	char *values = arena_alloc(ctx->arena, own + command->options_bytes);
	size_t used;

	memcpy(values, globals, sizeof(*globals));
	main_merge(&merged, command->options, own);
	main_merge(&merged, global_options, 0);
	for (size_t i = 0; i < merged.count; i++)
		if (merged.rows[i].kind == OPT_LIST || merged.rows[i].kind == OPT_LIST_BUT)
			((struct words *)(void *)(values + merged.rows[i].offset))->arena =
				ctx->arena;
	if (opt_parse(merged.rows, words, command->stop_at_argument, values, &arguments, &used,
		      err) < 0)
		return error_wrap(err, "%s", command->name);
	words_add_all(&arguments, words + used);
	ctx->is_after_dashes = words[used] && used && strcmp(words[used - 1], "--") == 0;
	memcpy(globals, values, sizeof(*globals));
	if (main_apply(globals, ctx, err) < 0)
		return -1;
	if (globals->help) {
		command_print_help(command);
		return 0;
	}
	if (check_arguments(command, &arguments, err) < 0)
		return -1;
	return command->run(ctx, values + own, arguments.list ? arguments.list : none, err);
}

static int dispatch(char **argv, struct context *ctx, struct error *err)
{
	const char *const *words = (const char *const *)argv + 1;
	struct globals globals = {0};
	struct words none = WORDS_INIT(ctx->arena);
	const struct command *command;
	size_t used = 0;

	if (opt_parse(global_options, words, true, &globals, &none, &used, err) < 0)
		return -1;
	if (main_apply(&globals, ctx, err) < 0)
		return -1;
	words += used;
	if (globals.version)
		return run_command(command_find("version"), words, &globals, ctx, err);
	if (!*words) {
		command_print_list();
		if (globals.help)
			return 0;
		return error_set(err, ERROR_USAGE, "no command was given");
	}
	command = command_find(*words);
	if (!command)
		return unknown_command(*words, err);
	return run_command(command, words + 1, &globals, ctx, err);
}

/* Started with 0, 1 or 2 closed, the next file to be opened would become our input or output. */
static void open_standard_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

/* For a program that reads the document of --json: there is one also where the command came to none. */
static void main_print_error(const struct error *err)
{
	_cleanup_(json_free) cJSON *json = json_document();

	cJSON_AddBoolToObject(json, "ok", false);
	cJSON_AddNumberToObject(json, "status", (int)err->kind);
	cJSON_AddStringToObject(json, "error", err->text);
	json_print(stdout, json);
}

/* Whether standard output is a pipe whose reader has all that it wanted, as in 'ringup matrix | head'. */
static bool nobody_reads(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

int main(int argc, char **argv)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct context ctx = {.arena = &arena};
	struct error err = {0};

	(void)argc;
	proc_leave_no_core();
	open_standard_streams();
	interrupt_setup();
	setvbuf(stderr, NULL, _IOLBF, 0);
	if (dispatch(argv, &ctx, &err) == 0 && (fflush(stdout) != 0 || ferror(stdout))) {
		if (nobody_reads())
			return 128 + SIGPIPE;
		error_errno(&err, "cannot write to standard output");
	}
	if (err.kind == ERROR_NONE)
		return 0;
	if (ctx.json && !json_was_printed())
		main_print_error(&err);
	fflush(stdout);
	if (*err.text) /* what nobody can end in another way ends without a word */
		log_error(err.text);
	return (int)err.kind;
}
