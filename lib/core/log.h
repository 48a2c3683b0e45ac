/* SPDX-License-Identifier: MIT */
/*
 * log.h - the only ways to speak to the person at the terminal, besides a command's result on
 * stdout.
 *
 * All of it goes to stderr. Safe from any thread; a line is never torn. Lines and the live progress
 * display (progress.h) share one lock, so that neither overwrites the other.
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
 * A credential is a type of its own, so that it can never be printed by one of the above: there is
 * no conversion to text except secret_reveal, which lint counts.
 */
struct secret {
	const char *hidden;
};
const char *secret_reveal(struct secret secret);

#endif
