/* SPDX-License-Identifier: MIT */
/*
 * yaml.h - a YAML (or JSON) file as a tree that remembers the position of each value.
 *
 * Anchors and tags are refused: configuration does not need them, and a few nested aliases can
 * expand to gigabytes. So are control characters in a text, two keys of one name in a map, and more
 * than 200,000 values. Nodes live in the arena. yaml_rows.h reads a tree into structs.
 */
#ifndef CORE_YAML_H
#define CORE_YAML_H

#include "core/arena.h"
#include "core/error.h"

enum yaml_kind { YAML_TEXT, YAML_LIST, YAML_MAP };

struct yaml {
	enum yaml_kind kind;
	const char *text; /* YAML_TEXT: the scalar; never NULL there */
	bool quoted;	  /* YAML_TEXT: written in quotes, so "null" is a word */
	const char *key;  /* inside of a map: its key */
	int line, column; /* of the value, from 1 */
	int key_line, key_column;
	const char *file;
	size_t count; /* YAML_LIST and YAML_MAP: number of children */
	struct yaml **items;
};

/* Errors are ERROR_USAGE and begin with file:line:column. An empty file is an empty map. */
int yaml_load(const char *path, struct arena *arena, struct yaml **root, struct error *err);

/* The same from memory; errors have `name` in place of the path. */
int yaml_parse(const char *name, const char *text, size_t length, struct arena *arena,
	       struct yaml **root, struct error *err);

/* Whether it is null, ~ or nothing, without quotes: a key with such a value is the same as no key. */
bool yaml_is_null(const struct yaml *value);

/* The value under `key`, or NULL (also when it is null or ~). */
struct yaml *yaml_get(const struct yaml *map, const char *key);

/* Sets ERROR_USAGE with "file:line:column: " before the text. Returns -1. */
int yaml_error(const struct yaml *node, struct error *err, const char *format, ...) _printf_(3, 4);

#endif
