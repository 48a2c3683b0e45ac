/* SPDX-License-Identifier: MIT */
#include "deployer/job/console/output.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/log.h"
#include "deployer/job/console/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TAIL_BYTES 900 /* an error has room for little more */
#define COLORS 6

static FILE *output_file(const struct job_output *output, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", output->folder, name);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? NULL : fdopen(fd, "a");
}

int job_output_open(struct job_output *output, const char *folder, int world, struct arena *arena,
		    struct error *err)
{
	output->folder = folder;
	output->world = world;
	output->ranks = ARENA_ARRAY(arena, (size_t)world, FILE *);
	output->line = (struct str)STR_INIT;
	output->prefix = (struct str)STR_INIT;
	output->last.from = (struct str)STR_INIT;
	job_terminal_init(&output->terminal);
	output->is_terminal[0] = isatty(STDOUT_FILENO);
	output->is_terminal[1] = isatty(STDERR_FILENO);
	output->all = output_file(output, "all.log");
	return output->all ? 0 : error_errno(err, "cannot write %s/all.log", folder);
}

/* The job goes on without a file that cannot be written, and the person is told once. */
static void output_failed(struct job_output *output)
{
	if (!output->has_failed)
		log_warn("cannot write the job's output in %s: %s; what is kept there is not all",
			 output->folder, strerror(errno));
	output->has_failed = true;
}

static void output_flush(struct job_output *output, FILE *file)
{
	if (file && (fflush(file) != 0 || ferror(file)))
		output_failed(output);
}

/* The file of a label. NULL when it cannot be written; the others go on. */
static FILE *output_of(struct job_output *output, const char *label)
{
	int rank = job_label_rank(label);
	FILE **file = rank >= 0 && rank < output->world ? &output->ranks[rank] : &output->launcher;
	char name[40];

	if (*file)
		return *file;
	snprintf(name, sizeof(name), "rank-%d.log", rank);
	*file = output_file(output, file == &output->launcher ? "launcher.log" : name);
	if (!*file)
		output_failed(output);
	return *file;
}

static void show_end(struct job_output *output, bool is_error)
{
	const char *end = keyboard_is_raw() ? "\r\n" : "\n";

	job_terminal_add(&output->terminal, is_error ? STDERR_FILENO : STDOUT_FILENO, end,
			 strlen(end));
}

/* Adds the text as a person sees it on a terminal that obeys nothing of it. */
static void show_clean(struct str *line, const struct job_event *event)
{
	size_t start = line->length;

	for (size_t at = 0; at < event->length; at += strlen(event->text + at) + 1)
		foreign_add_shown(line, event->text + at);
	foreign_clean(line->text + start);
	line->length = start + strlen(line->text + start);
}

/* "[3 node02] ": a rank's colour is that of its number, so that neighbours differ. "" goes on with a line. */
static void show(struct job_output *output, const struct job_event *event, const char *prefix)
{
	int fd = event->is_error ? STDERR_FILENO : STDOUT_FILENO;
	int rank = job_label_rank(event->label);

	str_clear(&output->line);
	if (output->is_colored && *prefix)
		str_addf(&output->line, "\033[%dm%s\033[0m", 31 + (rank + COLORS) % COLORS, prefix);
	else
		str_add(&output->line, prefix);
	if (output->is_terminal[event->is_error])
		show_clean(&output->line, event);
	else
		str_add_bytes(&output->line, event->text, event->length);
	job_terminal_add(&output->terminal, fd, output->line.text, output->line.length);
	if (event->is_whole)
		show_end(output, event->is_error);
}

/* Bytes of a rank that has a terminal. */
static void output_add_raw(struct job_output *output, FILE *own, const struct job_event *event)
{
	if (own)
		fwrite_unlocked(event->text, 1, event->length, own);
	if (!output->shows)
		return;
	job_terminal_add(&output->terminal, STDOUT_FILENO, event->text, event->length);
	job_terminal_flush(&output->terminal); /* who types sees it at once */
}

/* "[3 node02] ", or "[node02] " without a label. It is good until the next call. */
static const char *output_prefix(struct job_output *output, const char *label, const char *host)
{
	str_clear(&output->prefix);
	str_add(&output->prefix, "[");
	str_add(&output->prefix, label);
	str_add(&output->prefix, *label ? " " : "");
	str_add(&output->prefix, host);
	str_add(&output->prefix, "] ");
	return output->prefix.text;
}

/* Ends the last line where it has no end yet. */
static void output_end_line(struct job_output *output)
{
	if (!output->last.is_open)
		return;
	output->last.is_open = false;
	fputc_unlocked('\n', output->all);
	if (output->last.is_launcher && output->launcher)
		fputc_unlocked('\n', output->launcher);
	if (output->last.is_shown)
		show_end(output, output->last.is_error);
}

/* Begins a line, or goes on with the last one; whether it goes on. */
static bool output_begin_line(struct job_output *output, const struct job_event *event,
			      const char *prefix)
{
	bool goes_on = output->last.is_open && output->last.is_error == event->is_error &&
		       strcmp(output->last.from.text, prefix) == 0;

	if (!goes_on) {
		output_end_line(output);
		str_clear(&output->last.from);
		str_add(&output->last.from, prefix);
		output->last.is_error = event->is_error;
		output->last.is_shown = false;
		output->last.is_launcher = *event->label == 't';
	}
	output->last.is_open = !event->is_whole;
	return goes_on;
}

static void output_write(FILE *file, const char *prefix, const struct job_event *event)
{
	fputs_unlocked(prefix, file);
	fwrite_unlocked(event->text, 1, event->length, file);
	if (event->is_whole)
		fputc_unlocked('\n', file);
}

void job_output_add(struct job_output *output, const struct job_event *event, const char *host)
{
	FILE *own = output_of(output, event->label);
	const char *prefix;
	bool is_launcher = *event->label == 't', goes_on;

	if (!is_launcher && job_label_rank(event->label) == output->raw_rank) {
		output_add_raw(output, own, event);
		return;
	}
	prefix = output_prefix(output, is_launcher ? "" : event->label, host);
	goes_on = output_begin_line(output, event, prefix);
	if (own)
		output_write(own, is_launcher && !goes_on ? prefix : "", event);
	output_write(output->all, goes_on ? "" : prefix, event);
	if (!output->shows)
		return;
	show(output, event, goes_on && output->last.is_shown ? "" : prefix);
	output->last.is_shown = true;
}

void job_output_flush(struct job_output *output)
{
	if (!output->all)
		return;
	output_flush(output, output->all);
	for (int i = 0; i < output->world; i++)
		output_flush(output, output->ranks[i]);
	output_flush(output, output->launcher);
	job_terminal_flush(&output->terminal);
}

void job_output_close(struct job_output *output)
{
	if (!output->all)
		return;
	output_end_line(output);
	job_output_flush(output);
	job_terminal_release(&output->terminal);
	for (int i = 0; i < output->world; i++)
		file_close(&output->ranks[i]);
	file_close(&output->launcher);
	file_close(&output->all);
	str_release(&output->line);
	str_release(&output->prefix);
	str_release(&output->last.from);
}

/* The last lines of the file, at most `bytes_max` bytes of them, without the line end of the last one. */
static char *output_last(const char *folder, int rank, int lines, size_t bytes_max,
			 struct arena *arena)
{
	char *path = rank < 0 ? arena_printf(arena, "%s/launcher.log", folder)
			      : arena_printf(arena, "%s/rank-%d.log", folder, rank);
	char *bytes = arena_alloc(arena, bytes_max + 1), *start;
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END), most = (off_t)bytes_max;
	ssize_t done = size > 0 ? pread(fd, bytes, bytes_max, size > most ? size - most : 0) : 0;
	size_t got = done > 0 ? (size_t)done : 0;

	/* the rest of a line that began before */
	if (size > most && (start = memchr(bytes, '\n', got)))
		memset(bytes, '\n', (size_t)(start - bytes));
	while (got && bytes[got - 1] == '\n')
		got--;
	bytes[got] = '\0';
	for (start = bytes + got; start > bytes; start--)
		if (start[-1] == '\n' && --lines == 0)
			break;
	nuls_replace(start, (size_t)(bytes + got - start), ' ');
	return start;
}

char *job_output_last(const char *folder, int rank, int lines, struct arena *arena)
{
	return output_last(folder, rank, lines, JOB_LAST_BYTES, arena);
}

const char *job_output_tail(const char *folder, int rank, int lines, struct arena *arena)
{
	_cleanup_(str_release) struct str shown = STR_INIT;
	char *rest = output_last(folder, rank, lines, TAIL_BYTES, arena);

	str_clear(&shown);
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		str_add(&shown, shown.length ? "\n" : "");
		foreign_add_shown(&shown, line);
	}
	return foreign_clean(arena_strdup(arena, shown.text ? shown.text : ""));
}
