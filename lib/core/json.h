/* SPDX-License-Identifier: MIT */
/*
 * json.h - cJSON with ceilings, errors and cleanup.
 *
 * Building uses cJSON's own functions; a document that a command prints carries "schema": 1.
 */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include "core/arena.h"
#include "core/error.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <sys/types.h>

/* For _cleanup_ on a cJSON *. */
void json_free(cJSON **json);

/*
 * Parses exactly one document of `length` bytes. Nothing behind them is read. `what` names it in the
 * error ("manifest of lab/train", "facts.json"). A NUL, also as "\\u0000" in a string, is an error,
 * because C would read the text in front of it as the whole. A byte that is not UTF-8, in which JSON is
 * written (RFC 8259, section 8.1), becomes a '?', so that what is written again is what was read. The
 * caller frees *json.
 */
int json_parse(const char *text, size_t length, const char *what, cJSON **json, struct error *err);

/* Reads and parses a file. */
int json_read(const char *path, cJSON **json, struct error *err);
/* The same for a file that a person gives or keeps: its errors are ERROR_USAGE. */
int json_read_input(const char *path, cJSON **json, struct error *err);

/* A name that two members of the object have, or NULL. */
const char *json_twice(const cJSON *object, struct arena *arena);

/* Writes the document, indented, atomically. */
int json_write(const char *path, const cJSON *json, mode_t mode, struct error *err);

/* Prints the document, indented, with a newline at its end. */
void json_print(FILE *out, const cJSON *json);

/* Whether one went to standard output. */
bool json_was_printed(void);

/*
 * Members of an object by name; a missing or wrongly typed one gives the default. Text is copied.
 */
const char *json_text(const cJSON *object, const char *name, struct arena *arena);
/* Clamped to the range of an int. */
int json_int(const cJSON *object, const char *name, int otherwise);
double json_number(const cJSON *object, const char *name, double otherwise);
/* A measure that somebody else wrote: a finite number above 0, else 0. */
double json_measure(const cJSON *object, const char *name);
/* A text that somebody else wrote, cleaned as one line (foreign.h), the rest of more than @most bytes cut; else "". */
const char *json_line(const cJSON *object, const char *name, size_t most, struct arena *arena);
bool json_bool(const cJSON *object, const char *name, bool otherwise);
const cJSON *json_member(const cJSON *object, const char *name);

/*
 * Whether the object has none of the members `names` twice. json_member gives the first of two, and
 * the readers of other programs (Go's encoding/json) the last: a document with both means one thing
 * here and another thing there.
 */
bool json_names_once(const cJSON *object, const char *const *names);

/* An object with "schema": 1. */
cJSON *json_document(void);

/* Adds a string member unless `text` is NULL or empty. */
void json_add_text(cJSON *object, const char *name, const char *text);

#endif
