/* SPDX-License-Identifier: MIT */
#include "core/log.h"

#include "core/progress.h"

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

static void print_line(const char *before, const char *format, va_list args)
{
	progress_pause();
	fputs(before, stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	progress_resume();
}

void log_info(const char *format, ...)
{
	va_list args;

	if (current_level < LOG_NORMAL)
		return;
	va_start(args, format);
	print_line("", format, args);
	va_end(args);
}

void log_debug(const char *format, ...)
{
	va_list args;

	if (current_level < LOG_VERBOSE)
		return;
	va_start(args, format);
	print_line(current_color ? "\033[2m-\033[0m " : "- ", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_line(current_color ? "\033[33mwarning:\033[0m " : "warning: ", format, args);
	va_end(args);
}

void log_error(const char *text)
{
	progress_pause();
	fprintf(stderr,
		current_color ? "\033[31mringup: error:\033[0m %s\n" : "ringup: error: %s\n", text);
	progress_resume();
}

const char *secret_reveal(struct secret secret)
{
	return secret.hidden;
}
