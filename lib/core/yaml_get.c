/* SPDX-License-Identifier: MIT */
/* Typed reads of a YAML tree; the parser is in yaml.c. */
#include "core/yaml.h"

#include "core/str.h"
#include "core/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *const NOTHING[] = {NULL};

int yaml_error(const struct yaml *node, struct error *err, const char *format, ...)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	va_list args;

	va_start(args, format);
	str_vaddf(&text, format, args);
	va_end(args);
	return error_set(err, ERROR_USAGE, "%s:%d:%d: %s", node->file, node->line, node->column,
			 text.text);
}

struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++) {
		struct yaml *value = map->items[i];

		if (strcmp(value->key, key) != 0)
			continue;
		if (value->kind == YAML_TEXT && !value->quoted &&
		    (!*value->text || strcmp(value->text, "~") == 0 ||
		     strcmp(value->text, "null") == 0))
			return NULL;
		return value;
	}
	return NULL;
}

int yaml_check_keys(const struct yaml *map, const char *where, const char *const *keys,
		    struct error *err)
{
	if (map->kind != YAML_MAP)
		return yaml_error(map, err, "%s must be a map of key: value", where);
	for (size_t i = 0; i < map->count; i++) {
		const struct yaml *item = map->items[i];
		const char *const *known = keys;
		const char *near;

		while (*known && strcmp(*known, item->key) != 0)
			known++;
		if (*known)
			continue;
		near = nearest_word(item->key, keys);
		error_set(err, ERROR_USAGE, "%s:%d:%d: unknown key '%s' in %s", item->file,
			  item->key_line, item->key_column, item->key, where);
		if (near)
			return error_advise(err, "did you mean '%s'?", near);
		error_advise(err, "known keys:");
		for (known = keys; *known; known++) {
			size_t used = strlen(err->text);

			snprintf(err->text + used, sizeof(err->text) - used, " %s", *known);
		}
		return -1;
	}
	return 0;
}

int yaml_get_text(const struct yaml *map, const char *key, const char **value, struct error *err)
{
	const struct yaml *node = yaml_get(map, key);

	if (!node)
		return 0;
	if (node->kind != YAML_TEXT)
		return yaml_error(node, err, "'%s' must be a word", key);
	*value = node->text;
	return 0;
}

int yaml_get_int(const struct yaml *map, const char *key, int min, int max, int *value,
		 struct error *err)
{
	const struct yaml *node = yaml_get(map, key);
	char *end;
	long number;

	if (!node)
		return 0;
	if (node->kind != YAML_TEXT)
		return yaml_error(node, err, "'%s' must be a whole number", key);
	errno = 0;
	number = strtol(node->text, &end, 10);
	if (errno || end == node->text || *end || number < min || number > max)
		return yaml_error(node, err, "'%s' must be a whole number from %d to %d, not '%s'",
				  key, min, max, node->text);
	*value = (int)number;
	return 0;
}

int yaml_get_bool(const struct yaml *map, const char *key, bool *value, struct error *err)
{
	const struct yaml *node = yaml_get(map, key);

	if (!node)
		return 0;
	if (node->kind == YAML_TEXT && strcmp(node->text, "true") == 0)
		*value = true;
	else if (node->kind == YAML_TEXT && strcmp(node->text, "false") == 0)
		*value = false;
	else
		return yaml_error(node, err, "'%s' must be true or false", key);
	return 0;
}

int yaml_get_words(const struct yaml *map, const char *key, struct arena *arena,
		   const char *const **words, struct error *err)
{
	const struct yaml *node = yaml_get(map, key);
	struct words list = WORDS_INIT(arena);

	if (!node)
		return 0;
	if (node->kind == YAML_TEXT) {
		words_add(&list, node->text);
	} else if (node->kind == YAML_LIST) {
		for (size_t i = 0; i < node->count; i++) {
			if (node->items[i]->kind != YAML_TEXT)
				return yaml_error(node->items[i], err,
						  "'%s' must be a list of words", key);
			words_add(&list, node->items[i]->text);
		}
	} else {
		return yaml_error(node, err, "'%s' must be a list of words", key);
	}
	*words = list.list ? list.list : NOTHING;
	return 0;
}

int yaml_get_pairs(const struct yaml *map, const char *key, struct arena *arena,
		   const char *const **pairs, struct error *err)
{
	const struct yaml *node = yaml_get(map, key);
	struct words list = WORDS_INIT(arena);

	if (!node)
		return 0;
	if (node->kind != YAML_MAP)
		return yaml_error(node, err, "'%s' must be a map of name: value", key);
	for (size_t i = 0; i < node->count; i++) {
		if (node->items[i]->kind != YAML_TEXT)
			return yaml_error(node->items[i], err, "'%s.%s' must be a word", key,
					  node->items[i]->key);
		words_addf(&list, "%s=%s", node->items[i]->key, node->items[i]->text);
	}
	*pairs = list.list ? list.list : NOTHING;
	return 0;
}

int yaml_get_map(const struct yaml *map, const char *key, struct yaml **value, struct error *err)
{
	*value = yaml_get(map, key);
	if (*value && (*value)->kind != YAML_MAP)
		return yaml_error(*value, err, "'%s' must be a map of key: value", key);
	return 0;
}
