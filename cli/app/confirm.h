/* SPDX-License-Identifier: MIT */
/* confirm.h - a yes of the person before something is changed. */
#ifndef CLI_APP_CONFIRM_H
#define CLI_APP_CONFIRM_H

#include "core/error.h"

/*
 * Asks "QUESTION [y/N]" on the terminal and waits for an answer. -1 unless it is yes: ERROR_FAILED when
 * it is no, and where standard input is no terminal ERROR_USAGE with `otherwise`, the way to say yes
 * beforehand.
 */
int confirm(const char *question, const char *otherwise, struct error *err);

#endif
