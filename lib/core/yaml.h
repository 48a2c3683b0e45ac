/* SPDX-License-Identifier: MIT */
/*
 * yaml.h - a YAML (or JSON) file as a tree that remembers where each thing stood.
 *
 * Anchors and tags are refused: configuration has no use for them, and an alias bomb has.
 * Nodes live in the arena.
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

/* The same from memory; `name` stands where the path would. */
int yaml_parse(const char *name, const char *text, size_t length, struct arena *arena,
	       struct yaml **root, struct error *err);

/* The value under `key`, or NULL (also when it is null or ~). */
struct yaml *yaml_get(const struct yaml *map, const char *key);

/*
 * Refuses keys that are not in `keys` (NULL-terminated), with file:line:column, the offending key
 * and the nearest known one. `where` names the map in the message ("cluster.yaml", "'ssh'").
 */
int yaml_check_keys(const struct yaml *map, const char *where, const char *const *keys,
		    struct error *err);

/* Sets ERROR_USAGE with "file:line:column: " before the text. Returns -1. */
int yaml_error(const struct yaml *node, struct error *err, const char *format, ...) _printf_(3, 4);

/* Typed reads of map[key]: leave *value alone when the key is missing; a wrong type is an error. */
int yaml_get_text(const struct yaml *map, const char *key, const char **value, struct error *err);
int yaml_get_int(const struct yaml *map, const char *key, int min, int max, int *value,
		 struct error *err);
int yaml_get_bool(const struct yaml *map, const char *key, bool *value, struct error *err);
/* A list of scalars; one scalar counts as a list of one. NULL-terminated. */
int yaml_get_words(const struct yaml *map, const char *key, struct arena *arena,
		   const char *const **words, struct error *err);
/* A map of scalars as "key=value" words, in the file's order. NULL-terminated. */
int yaml_get_pairs(const struct yaml *map, const char *key, struct arena *arena,
		   const char *const **pairs, struct error *err);
/* The map under `key`, NULL when it is missing; anything but a map is an error. */
int yaml_get_map(const struct yaml *map, const char *key, struct yaml **value, struct error *err);

#endif
