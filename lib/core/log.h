/* SPDX-License-Identifier: MIT */
/*
 * log.h - all messages to the person at the terminal, except a command's result on stdout.
 *
 * All messages go to stderr. The functions are safe from any thread, and a line is never torn.
 * Lines and the live progress display (progress.h) share one lock, so that neither overwrites the
 * other.
 */
#ifndef CORE_LOG_H
#define CORE_LOG_H

#include "core/base.h"

enum log_level { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1 };

/* Set once by main before any thread starts. `color` says whether stderr takes colour. */
void log_setup(enum log_level level, bool color);
enum log_level log_level(void);
bool log_color(void);

void log_info(const char *format, ...) _printf_(1, 2);	/* not with -q */
void log_debug(const char *format, ...) _printf_(1, 2); /* only with -v */
void log_warn(const char *format, ...) _printf_(1, 2);
/* For main: "ringup: error: ...". */
void log_error(const char *text);

/*
 * A credential has its own type, so that none of the functions above can print it. Only
 * secret_reveal converts it to text, and lint lists its callers.
 */
struct secret {
	const char *hidden;
};
const char *secret_reveal(struct secret secret);

#endif
