/* SPDX-License-Identifier: MIT */
/*
 * yaml_rows.h - the keys of a YAML map as rows: reading, defaults, errors and help come from one
 * table (core/opt.h does the same for the command line).
 *
 * Each row has a key's name, the kind of its value, its default, and the struct member that the
 * value goes to. The keys are listed nowhere else.
 */
#ifndef CORE_YAML_ROWS_H
#define CORE_YAML_ROWS_H

#include "core/yaml.h"

enum yaml_row_kind {
	YAML_ROW_TEXT,	/* const char *, never NULL */
	YAML_ROW_INT,	/* int, from `min` to `max` */
	YAML_ROW_BOOL,	/* bool; written true or false */
	YAML_ROW_WORDS, /* const char *const *, NULL-terminated; one scalar is a list of one */
	YAML_ROW_PAIRS, /* the same; a map of scalars as "name=value", in the file's order */
	YAML_ROW_MAP,	/* a struct that `rows` describe */
	YAML_ROW_MAPS, /* a pointer to structs that `rows` describe, and a size_t that counts them */
	YAML_ROW_NAMED, /* the same, in the file a map of NAME: {...}; the name goes to name_offset */
	YAML_ROW_OWN,	/* nothing is stored: the row's `check` reads it; `rows` are for help */
};

struct yaml_row;

/* The arguments of a row's check. */
struct yaml_place {
	const struct yaml_row *row;
	const struct yaml *map;	 /* the map that the key belongs to */
	const struct yaml *node; /* the key's value; NULL: the file does not have it */
	void *values;		 /* the struct that the map's rows describe, already filled in */
	const void *root;	 /* the outermost struct */
	struct arena *arena;
};

struct yaml_row {
	const char *key; /* NULL ends the array */
	enum yaml_row_kind kind;
	size_t offset;	   /* offsetof(struct ..., member) */
	const char *value; /* the default, spelled as in the file; NULL: "", 0, false or no words */
	const char *note;  /* the default in words, when `value` does not say it */
	const char *help;  /* one line */

	/* The default is computed: the result of `given(values, root)`. Only for texts. */
	const char *(*given)(const void *values, const void *root);
	const char *const *choices; /* NULL-terminated, the usual one first; NULL: any text */
	int min, max;
	/*
	 * Checks what the kind cannot express: a word's form, or two keys that exclude each other.
	 * It is called after all rows of the map are read, also when the file does not have the
	 * key. It returns yaml_error().
	 */
	int (*check)(const struct yaml_place *at, struct error *err);

	const struct yaml_row *rows; /* MAP, MAPS, NAMED, OWN: the keys inside */
	const char *item; /* MAPS: what errors call one of them, "a file"; NAMED: "job" */
	size_t item_bytes,
		count_offset; /* MAPS, NAMED: of one struct; of the count, beside `offset` */
	size_t name_offset;   /* NAMED: of a const char * in the struct of one */
};

#define YAML_ROWS_END       \
	{                   \
		.key = NULL \
	}

/*
 * Sets every member that the rows describe to its default, inner structs too. Fails when a row's
 * `value` is not of its own kind, which is a bug in ringup.
 */
int yaml_defaults(const struct yaml_row *rows, void *values, const void *root, struct arena *arena,
		  struct error *err);

/*
 * Reads the map into `values`, which hold the defaults: keys that are missing, or null, leave their
 * member alone. `where` names the map in errors ("the file", "a host"). Everything is kept in the
 * arena. Errors are ERROR_USAGE and begin with file:line:column; unknown keys name the nearest known
 * one, or all of them.
 */
int yaml_read(const struct yaml_row *rows, const char *where, const struct yaml *map, void *values,
	      const void *root, struct arena *arena, struct error *err);

/* One key with its path: "image.files[].from", "jobs.NAME.command". */
struct yaml_key {
	const char *path;
	const struct yaml_row *row;
};

/* All keys that hold a value, including those of inner maps, in the order of the rows. */
size_t yaml_keys(const struct yaml_row *rows, struct arena *arena, struct yaml_key **keys);

/* The default as documents show it: the row's value, or its note when it has none. */
const char *yaml_row_default(const struct yaml_row *row);

#endif
