/* SPDX-License-Identifier: MIT */
/*
 * foreign.h - printing text that hosts, registries, engines and files wrote.
 *
 * A terminal obeys some characters: ESC and the C1 control U+009B begin commands that can clear the
 * screen, change the title or type an answer, CR goes back over the line, and the bidirectional
 * controls show words in another order. No such character goes to standard output or standard
 * error, whether a terminal stands there or a pipe whose reader shows it later. What a job prints is
 * data: it goes to a pipe or a file as it is (say_data, deployer/job/console/output.h). foreign_clean is
 * the only function that decides; log.h, progress.h, term.h and the functions below call it, and
 * `make lint` (banned) allows no other way to print in cli/.
 *
 * JSON keeps the data: there the same characters are written as \uXXXX.
 */
#ifndef CORE_FOREIGN_H
#define CORE_FOREIGN_H

#include "core/str.h"

#include <stdio.h>

/*
 * Replaces in place, by one '?' each: the C0 controls but newline and tab, DEL, U+0080 to U+009F,
 * the bidirectional controls (U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069), the line
 * separators U+2028 and U+2029, and each byte that is no part of a UTF-8 character (RFC 3629).
 * A carriage return at the end of a line or of the text goes. Returns `text`, which never gets longer.
 */
char *foreign_clean(char *text);

/* The same for one line or one cell of a table: newline and tab are replaced, too. */
char *foreign_clean_line(char *text);

/* Replaces in place, by one '?' each, the bytes that are no part of a UTF-8 character (RFC 3629), and nothing else. */
void foreign_make_utf8(char *text);

/*
 * Adds the text without a terminal's escape sequences: colours, cursor movements, titles. A sequence
 * that is not complete is removed, too. Nothing else is cleaned.
 */
void foreign_add_plain(struct str *out, const char *text);

/*
 * Adds a line of a program as it stands at the end on a terminal: without escape sequences, and without what the
 * program went back over with backspaces and carriage returns, as progress bars do. Nothing else is cleaned.
 */
void foreign_add_shown(struct str *out, const char *text);

/* Prints a command's result on standard output, cleaned. Use it in place of printf. */
void say(const char *format, ...) _printf_(1, 2);
/* The same on another stream. */
void say_to(FILE *out, const char *format, ...) _printf_(2, 3);

/* Prints one value cleaned as one line, without a newline. */
void say_value(const char *text);

/*
 * Writes data for programs on standard output: a manifest, a Dockerfile. The bytes stay as they
 * are, so that a digest of them is right, unless standard output is a terminal.
 */
void say_data(const void *bytes, size_t length);

/*
 * Adds a JSON document. The characters that foreign_clean replaces and that JSON allows as they are
 * become \uXXXX, which means the same, and a byte that is no UTF-8 becomes \ufffd.
 */
void foreign_add_json(struct str *out, const char *json);

#endif
