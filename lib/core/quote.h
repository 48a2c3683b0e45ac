/* SPDX-License-Identifier: MIT */
/*
 * quote.h - the one place where words become a line for a shell.
 *
 * Remote commands are word arrays; each word is quoted here and nowhere else, so that no format
 * string and no user text is ever parsed by a shell.
 */
#ifndef CORE_QUOTE_H
#define CORE_QUOTE_H

#include "core/str.h"

/* Adds one word, quoted for POSIX sh when it needs to be. */
void quote_word(struct str *out, const char *word);

/* Adds the NULL-terminated words, quoted, with single spaces between them. */
void quote_words(struct str *out, const char *const *words);

/*
 * The same line for a host whose login shell may be any (sh, bash, busybox, csh, fish). Those read quoted line
 * ends, '\\' and '!' differently, so a line that has one of these is sent in a code, which sh reads there.
 */
void quote_for_login_shell(struct str *out, const char *line);

#endif
