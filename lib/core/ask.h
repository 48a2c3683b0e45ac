/* SPDX-License-Identifier: MIT */
/* ask.h - one secret, asked for at the terminal of the person. */
#ifndef CORE_ASK_H
#define CORE_ASK_H

#include "core/secret.h"

/*
 * Prints "QUESTION: " on the process's terminal and reads a line from there without showing it, whatever standard
 * input and output are. One question at a time. ERROR_USAGE where there is no terminal, with `otherwise`, the way
 * to give the answer beforehand; ERROR_INTERRUPTED after Ctrl-C. The caller wipes the secret.
 */
int ask_secret(const char *question, const char *otherwise, struct arena *arena,
	       struct secret *secret, struct error *err);

#endif
