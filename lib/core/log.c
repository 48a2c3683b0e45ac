/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include "core/foreign.h"
#include "core/progress.h"
#include "core/progress_event.h"

#include <stdarg.h>
#include <stdio.h>

static enum log_level current_level;
static bool current_color;

void log_setup(enum log_level level, bool color)
{
	current_level = level;
	current_color = color;
}

enum log_level log_level(void)
{
	return current_level;
}

bool log_color(void)
{
	return current_color;
}

static void log_print_line(const char *event, const char *before, const char *format, va_list args)
{
	_cleanup_(str_release) struct str line = STR_INIT, text = STR_INIT;

	str_vaddf(&text, format, args);
	progress_pause();
	if (progress_events_on()) {
		event_text(&line, event, text.text);
		fputs(line.text, stderr);
	} else {
		fprintf(stderr, "%s%s\n", before, foreign_clean(text.text));
	}
	progress_resume();
}

void log_info(const char *format, ...)
{
	va_list args;

	if (current_level < LOG_NORMAL)
		return;
	va_start(args, format);
	log_print_line("info", "", format, args);
	va_end(args);
}

void log_debug(const char *format, ...)
{
	va_list args;

	if (current_level < LOG_VERBOSE)
		return;
	va_start(args, format);
	log_print_line("debug", current_color ? "\033[2m-\033[0m " : "- ", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_print_line("warning", current_color ? "\033[33mwarning:\033[0m " : "warning: ", format,
		       args);
	va_end(args);
}

void log_error(const char *text)
{
	_cleanup_(str_release) struct str line = STR_INIT, clean = STR_INIT;

	event_text(&line, "error", text);
	str_add(&clean, text);
	progress_pause();
	if (progress_events_on())
		fputs(line.text, stderr);
	else
		fprintf(stderr,
			current_color ? "\033[31mringup: error:\033[0m %s\n"
				      : "ringup: error: %s\n",
			foreign_clean(clean.text));
	progress_resume();
}

const char *secret_reveal(struct secret secret)
{
	return secret.hidden;
}
