/* SPDX-License-Identifier: MIT */
#include "core/yaml_rows.h"

#include "core/str.h"
#include "core/words.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define YAML_ROWS_MAX 48

static const char *const NOTHING[] = {NULL};

struct row_reader {
	const void *root;
	struct arena *arena;
	struct error *err;
};

static void *rows_place(const struct yaml_row *row, void *values)
{
	return (char *)values + row->offset;
}

/* --- one value ------------------------------------------------------------------------------ */

static bool yaml_are_texts(const struct yaml *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i]->kind != YAML_TEXT)
			return false;
	return true;
}

static int store_text(const struct yaml_row *row, const struct yaml *node, const char **place,
		      struct error *err)
{
	_cleanup_(str_release) struct str all = STR_INIT;

	if (node->kind == YAML_LIST && node->count && yaml_are_texts(node)) {
		for (size_t i = 0; i < node->count; i++)
			str_addf(&all, "%s%s", i ? "," : "", node->items[i]->text);
		return yaml_error(node, err, "'%s' must be a word: write \"%s\"", row->key,
				  all.text);
	}
	if (node->kind != YAML_TEXT)
		return yaml_error(node, err, "'%s' must be a word", row->key);
	*place = node->text;
	if (!row->choices)
		return 0;
	for (const char *const *choice = row->choices; *choice; choice++)
		if (strcmp(*choice, node->text) == 0)
			return 0;
	/* no guess: of 'gpu' the nearest is 'cpu', where 'cuda' is meant */
	for (const char *const *choice = row->choices; *choice; choice++)
		str_addf(&all, "%s%s", all.length ? ", " : "", *choice);
	return yaml_error(node, err, "'%s' cannot be '%s'; it can be %s", row->key, node->text,
			  all.text);
}

static int store_int(const struct yaml_row *row, const struct yaml *node, int *place,
		     struct error *err)
{
	char *end;
	long number;

	if (node->kind != YAML_TEXT)
		return yaml_error(node, err, "'%s' must be a whole number", row->key);
	errno = 0;
	number = strtol(node->text, &end, 10);
	if (errno || end == node->text || *end || number < row->min || number > row->max)
		return yaml_error(node, err, "'%s' must be a whole number from %d to %d, not '%s'",
				  row->key, row->min, row->max, node->text);
	*place = (int)number;
	return 0;
}

static int store_bool(const struct yaml_row *row, const struct yaml *node, bool *place,
		      struct error *err)
{
	bool yes = node->kind == YAML_TEXT && strcmp(node->text, "true") == 0;

	if (!yes && (node->kind != YAML_TEXT || strcmp(node->text, "false") != 0))
		return yaml_error(node, err, "'%s' must be true or false", row->key);
	*place = yes;
	return 0;
}

static int store_words(const struct yaml_row *row, const struct yaml *node, struct arena *arena,
		       const char *const **place, struct error *err)
{
	struct words list = WORDS_INIT(arena);

	if (node->kind == YAML_MAP)
		return yaml_error(node, err, "'%s' must be a list of words", row->key);
	if (node->kind == YAML_TEXT)
		words_add(&list, node->text);
	for (size_t i = 0; i < node->count; i++) {
		if (node->items[i]->kind != YAML_TEXT)
			return yaml_error(node->items[i], err, "'%s' must be a list of words",
					  row->key);
		words_add(&list, node->items[i]->text);
	}
	*place = list.list ? list.list : NOTHING;
	return 0;
}

static int store_pairs(const struct yaml_row *row, const struct yaml *node, struct arena *arena,
		       const char *const **place, struct error *err)
{
	struct words list = WORDS_INIT(arena);

	if (node->kind != YAML_MAP)
		return yaml_error(node, err, "'%s' must be a map of name: value", row->key);
	for (size_t i = 0; i < node->count; i++) {
		const struct yaml *item = node->items[i];

		if (item->kind != YAML_TEXT)
			return yaml_error(item, err, "'%s.%s' must be a word", row->key, item->key);
		if (!yaml_is_null(item))
			words_addf(&list, "%s=%s", item->key, item->text);
	}
	*place = list.list ? list.list : NOTHING;
	return 0;
}

static int store_map(const struct yaml_row *row, const struct yaml *node, void *place,
		     const struct row_reader *r)
{
	return yaml_read(row->rows, arena_printf(r->arena, "'%s'", row->key), node, place, r->root,
			 r->arena, r->err);
}

/* "'files' must be a list of {from, to}", "'jobs' must be a map of NAME: {command, env}" */
static int rows_refuse_list(const struct yaml_row *row, const struct yaml *node, struct error *err)
{
	_cleanup_(str_release) struct str keys = STR_INIT;

	for (const struct yaml_row *inner = row->rows; inner->key; inner++)
		str_addf(&keys, "%s%s", keys.length ? ", " : "", inner->key);
	return yaml_error(node, err, "'%s' must be a %s{%s}", row->key,
			  row->kind == YAML_ROW_NAMED ? "map of NAME: " : "list of ", keys.text);
}

static int store_maps(const struct yaml_row *row, const struct yaml *node, void *values,
		      const struct row_reader *r)
{
	bool is_named = row->kind == YAML_ROW_NAMED;
	char *items;

	if (node->kind != (is_named ? YAML_MAP : YAML_LIST))
		return rows_refuse_list(row, node, r->err);
	items = arena_array(r->arena, node->count, row->item_bytes);
	*(void **)rows_place(row, values) = items;
	*(size_t *)(void *)((char *)values + row->count_offset) = node->count;
	for (size_t i = 0; i < node->count; i++) {
		const struct yaml *from = node->items[i];
		char *item = items + i * row->item_bytes;
		const char *where = row->item;

		if (yaml_defaults(row->rows, item, r->root, r->arena, r->err) < 0)
			return -1;
		if (is_named) {
			*(const char **)(void *)(item + row->name_offset) = from->key;
			where = arena_printf(r->arena, "the %s '%s'", row->item, from->key);
		}
		if (yaml_read(row->rows, where, from, item, r->root, r->arena, r->err) < 0)
			return -1;
	}
	return 0;
}

static int rows_store(const struct yaml_row *row, const struct yaml *node, void *values,
		      const struct row_reader *r)
{
	void *place = rows_place(row, values);

	switch (row->kind) {
	case YAML_ROW_TEXT:
		return store_text(row, node, place, r->err);
	case YAML_ROW_INT:
		return store_int(row, node, place, r->err);
	case YAML_ROW_BOOL:
		return store_bool(row, node, place, r->err);
	case YAML_ROW_WORDS:
		return store_words(row, node, r->arena, place, r->err);
	case YAML_ROW_PAIRS:
		return store_pairs(row, node, r->arena, place, r->err);
	case YAML_ROW_MAP:
		return store_map(row, node, place, r);
	case YAML_ROW_MAPS:
	case YAML_ROW_NAMED:
		return store_maps(row, node, values, r);
	case YAML_ROW_OWN:
		return 0;
	}
	return 0;
}

/* --- defaults ------------------------------------------------------------------------------- */

/* Clears a member whose row has no default. */
static void clear_place(const struct yaml_row *row, void *values)
{
	void *place = rows_place(row, values);

	switch (row->kind) {
	case YAML_ROW_TEXT:
		*(const char **)place = "";
		break;
	case YAML_ROW_INT:
		*(int *)place = 0;
		break;
	case YAML_ROW_BOOL:
		*(bool *)place = false;
		break;
	case YAML_ROW_WORDS:
	case YAML_ROW_PAIRS:
		*(const char *const **)place = NOTHING;
		break;
	case YAML_ROW_MAPS:
	case YAML_ROW_NAMED:
		*(void **)place = NULL;
		*(size_t *)(void *)((char *)values + row->count_offset) = 0;
		break;
	case YAML_ROW_MAP:
	case YAML_ROW_OWN:
		break;
	}
}

/*
 * Reads the default as if it stood in the file, so that values are written in one way everywhere.
 */
static int store_default(const struct yaml_row *row, void *values, const struct row_reader *r)
{
	struct yaml *node;

	if (yaml_parse(row->key, row->value, strlen(row->value), r->arena, &node, r->err) < 0)
		return -1;
	return rows_store(row, node, values, r);
}

static void store_given(const struct yaml_row *row, void *values, const void *root)
{
	if (row->given)
		*(const char **)rows_place(row, values) = row->given(values, root);
}

int yaml_defaults(const struct yaml_row *rows, void *values, const void *root, struct arena *arena,
		  struct error *err)
{
	const struct row_reader r = {root, arena, err};

	for (const struct yaml_row *row = rows; row->key; row++) {
		clear_place(row, values);
		if (row->kind == YAML_ROW_MAP &&
		    yaml_defaults(row->rows, rows_place(row, values), root, arena, err) < 0)
			return -1;
		if (row->value && store_default(row, values, &r) < 0)
			return -1;
		store_given(row, values, root);
	}
	return 0;
}

const char *yaml_row_default(const struct yaml_row *row)
{
	return row->value ? row->value : row->note;
}

/* --- a map ---------------------------------------------------------------------------------- */

static int refuse_key(const struct yaml_row *rows, const char *where, const struct yaml *item,
		      struct error *err)
{
	_cleanup_(str_release) struct str known = STR_INIT;
	const char *names[YAML_ROWS_MAX + 1], *near;
	size_t count = 0;

	for (; rows->key && count < YAML_ROWS_MAX; rows++) {
		names[count++] = rows->key;
		str_addf(&known, " %s", rows->key);
	}
	names[count] = NULL;
	near = nearest_word(item->key, names);
	error_set(err, ERROR_USAGE, "%s:%d:%d: unknown key '%s' in %s", item->file, item->key_line,
		  item->key_column, item->key, where);
	return near ? error_advise(err, "did you mean '%s'?", near)
		    : error_advise(err, "known keys:%s", known.text);
}

static int check_keys(const struct yaml_row *rows, const char *where, const struct yaml *map,
		      struct error *err)
{
	if (map->kind != YAML_MAP)
		return yaml_error(map, err, "%s must be a map of key: value", where);
	for (size_t i = 0; i < map->count; i++) {
		const struct yaml_row *row = rows;

		while (row->key && strcmp(row->key, map->items[i]->key) != 0)
			row++;
		if (!row->key)
			return refuse_key(rows, where, map->items[i], err);
	}
	return 0;
}

/*
 * Handles a map that the file does not have. Its checks still run, and its computed defaults apply.
 */
static int read_absent(const struct yaml_row *row, const struct yaml *map, void *values,
		       const struct row_reader *r)
{
	struct yaml empty = {
		.kind = YAML_MAP, .file = map->file, .line = map->line, .column = map->column};

	return store_map(row, &empty, rows_place(row, values), r);
}

int yaml_read(const struct yaml_row *rows, const char *where, const struct yaml *map, void *values,
	      const void *root, struct arena *arena, struct error *err)
{
	const struct row_reader r = {root, arena, err};

	if (check_keys(rows, where, map, err) < 0)
		return -1;
	for (const struct yaml_row *row = rows; row->key; row++) {
		const struct yaml *node = yaml_get(map, row->key);

		if (node && rows_store(row, node, values, &r) < 0)
			return -1;
		if (!node && row->kind == YAML_ROW_MAP && read_absent(row, map, values, &r) < 0)
			return -1;
		if (!node)
			store_given(row, values, root);
	}
	for (const struct yaml_row *row = rows; row->key; row++) {
		struct yaml_place at = {row, map, yaml_get(map, row->key), values, root, arena};

		if (row->check && row->check(&at, err) < 0)
			return -1;
	}
	return 0;
}

/* --- the list of keys ----------------------------------------------------------------------- */

/* Counts the keys, and writes them where there is an array. */
static size_t list_keys(const struct yaml_row *rows, const char *before, struct arena *arena,
			struct yaml_key *keys)
{
	size_t count = 0;

	for (const struct yaml_row *row = rows; row->key; row++) {
		const char *path = arena_printf(arena, "%s%s", before, row->key);

		if (row->kind != YAML_ROW_MAP) {
			if (keys)
				keys[count] = (struct yaml_key){path, row};
			count++;
		}
		if (row->rows)
			count += list_keys(row->rows,
					   arena_printf(arena, "%s%s", path,
							row->kind == YAML_ROW_MAP     ? "."
							: row->kind == YAML_ROW_NAMED ? ".NAME."
										      : "[]."),
					   arena, keys ? keys + count : NULL);
	}
	return count;
}

size_t yaml_keys(const struct yaml_row *rows, struct arena *arena, struct yaml_key **keys)
{
	size_t count = list_keys(rows, "", arena, NULL);

	*keys = ARENA_ARRAY(arena, count, struct yaml_key);
	return list_keys(rows, "", arena, *keys);
}
