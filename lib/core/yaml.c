/* SPDX-License-Identifier: MIT */
#include "core/yaml.h"

#include "core/file.h"
#include "core/str.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#define YAML_DEPTH_MAX 16
#define YAML_NODES_MAX 200000

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

bool yaml_is_null(const struct yaml *value)
{
	return value->kind == YAML_TEXT && !value->quoted &&
	       (!*value->text || strcmp(value->text, "~") == 0 || strcmp(value->text, "null") == 0);
}

struct yaml *yaml_get(const struct yaml *map, const char *key)
{
	for (size_t i = 0; map->kind == YAML_MAP && i < map->count; i++) {
		struct yaml *value = map->items[i];

		if (strcmp(value->key, key) != 0)
			continue;
		return yaml_is_null(value) ? NULL : value;
	}
	return NULL;
}

struct builder {
	yaml_parser_t *parser;
	struct arena *arena;
	const char *file;
	size_t nodes;
	struct error *err;
};

static int add_child(struct builder *b, struct yaml *parent, size_t *capacity, struct yaml *child)
{
	if (parent->count == *capacity) {
		size_t larger = *capacity ? *capacity * 2 : 8;
		struct yaml **items = ARENA_ARRAY(b->arena, larger, struct yaml *);

		if (parent->count)
			memcpy(items, parent->items, parent->count * sizeof(*items));
		parent->items = items;
		*capacity = larger;
	}
	parent->items[parent->count++] = child;
	return 0;
}

static int parser_error(struct builder *b)
{
	const yaml_parser_t *p = b->parser;
	bool is_tab = p->error == YAML_SCANNER_ERROR && p->buffer.pointer < p->buffer.last &&
		      *p->buffer.pointer == '\t';

	return error_set(b->err, ERROR_USAGE, "%s:%zu:%zu: %s", b->file, p->problem_mark.line + 1,
			 p->problem_mark.column + 1,
			 is_tab	      ? "a tab: YAML is indented by spaces"
			 : p->problem ? p->problem
				      : "not valid YAML");
}

/* Reads the next event; the caller deletes it. */
static int next_event(struct builder *b, yaml_event_t *event)
{
	const char *refused = NULL;

	if (!yaml_parser_parse(b->parser, event))
		return parser_error(b);
	if ((event->type == YAML_SCALAR_EVENT && event->data.scalar.tag) ||
	    (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.tag) ||
	    (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.tag))
		refused = "tags are not taken here; write the plain value";
	if (event->type == YAML_ALIAS_EVENT ||
	    (event->type == YAML_SCALAR_EVENT && event->data.scalar.anchor) ||
	    (event->type == YAML_MAPPING_START_EVENT && event->data.mapping_start.anchor) ||
	    (event->type == YAML_SEQUENCE_START_EVENT && event->data.sequence_start.anchor))
		refused = "anchors and aliases are not taken here; write the value out";
	if (++b->nodes > YAML_NODES_MAX)
		refused = "too many values in one file";
	if (refused) {
		error_set(b->err, ERROR_USAGE, "%s:%zu:%zu: %s", b->file,
			  event->start_mark.line + 1, event->start_mark.column + 1, refused);
		yaml_event_delete(event);
		return -1;
	}
	return 0;
}

static struct yaml *new_node(struct builder *b, const yaml_event_t *event, enum yaml_kind kind)
{
	struct yaml *node = ARENA_NEW(b->arena, struct yaml);

	node->kind = kind;
	node->file = b->file;
	node->line = (int)event->start_mark.line + 1;
	node->column = (int)event->start_mark.column + 1;
	return node;
}

static struct yaml *read_node(struct builder *b, yaml_event_t *event, int depth);

static struct yaml *yaml_read_list(struct builder *b, struct yaml *list, int depth)
{
	size_t capacity = 0;

	for (;;) {
		yaml_event_t event;
		struct yaml *child;

		if (next_event(b, &event) < 0)
			return NULL;
		if (event.type == YAML_SEQUENCE_END_EVENT) {
			yaml_event_delete(&event);
			return list;
		}
		child = read_node(b, &event, depth + 1);
		if (!child)
			return NULL;
		add_child(b, list, &capacity, child);
	}
}

/* By key, then by place in the file. */
static int yaml_by_key(const void *a, const void *b)
{
	const struct yaml *x = *(struct yaml *const *)a, *y = *(struct yaml *const *)b;
	int order = strcmp(x->key, y->key);

	if (!order)
		order = x->key_line < y->key_line ? -1 : x->key_line > y->key_line;
	return order ? order : x->key_column - y->key_column;
}

/* Sorts, since to compare every key with every other takes minutes for a file of 16 MiB. */
static int refuse_twice(struct builder *b, const struct yaml *map)
{
	struct yaml **sorted = ARENA_ARRAY(b->arena, map->count + 1, struct yaml *);

	if (map->count)
		memcpy(sorted, map->items, map->count * sizeof(*sorted));
	qsort(sorted, map->count, sizeof(*sorted), yaml_by_key);
	for (size_t i = 1; i < map->count; i++)
		if (strcmp(sorted[i - 1]->key, sorted[i]->key) == 0)
			return error_set(b->err, ERROR_USAGE,
					 "%s:%d:%d: '%s' stands twice; the first is on line %d",
					 b->file, sorted[i]->key_line, sorted[i]->key_column,
					 sorted[i]->key, sorted[i - 1]->key_line);
	return 0;
}

static struct yaml *read_map(struct builder *b, struct yaml *map, int depth)
{
	size_t capacity = 0;

	for (;;) {
		yaml_event_t event;
		struct yaml *key, *value;

		if (next_event(b, &event) < 0)
			return NULL;
		if (event.type == YAML_MAPPING_END_EVENT) {
			yaml_event_delete(&event);
			return refuse_twice(b, map) < 0 ? NULL : map;
		}
		key = read_node(b, &event, depth + 1);
		if (!key)
			return NULL;
		if (key->kind != YAML_TEXT) {
			yaml_error(key, b->err, "a key must be a word");
			return NULL;
		}
		if (next_event(b, &event) < 0)
			return NULL;
		value = read_node(b, &event, depth + 1);
		if (!value)
			return NULL;
		value->key = key->text;
		value->key_line = key->line;
		value->key_column = key->column;
		add_child(b, map, &capacity, value);
	}
}

/*
 * Escapes in quotes can make any character. A NUL would end the text for C, and no value of a
 * configuration holds another control character than newline and tab.
 */
static int yaml_check_text(const struct yaml *node, size_t length, struct error *err)
{
	for (size_t i = 0; i < length; i++) {
		unsigned int c = (unsigned char)node->text[i];

		if (c == 0xc2 && (unsigned char)node->text[i + 1] < 0xa0) /* U+0080 to U+009F */
			c = (unsigned char)node->text[i + 1];
		else if ((c >= ' ' && c != 0x7f) || c == '\n' || c == '\t')
			continue;
		return yaml_error(node, err, "the text holds the control character U+%04X", c);
	}
	return 0;
}

/* Deletes the event. */
static struct yaml *yaml_read_text(struct builder *b, yaml_event_t *event)
{
	struct yaml *node = new_node(b, event, YAML_TEXT);
	size_t length = event->data.scalar.length;

	node->text = arena_strndup(b->arena, (const char *)event->data.scalar.value, length);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	yaml_event_delete(event);
	return yaml_check_text(node, length, b->err) < 0 ? NULL : node;
}

/* Deletes the event. */
static struct yaml *read_node(struct builder *b, yaml_event_t *event, int depth)
{
	struct yaml *node = NULL;

	if (depth > YAML_DEPTH_MAX) {
		error_set(b->err, ERROR_USAGE, "%s:%zu:%zu: nested too deep", b->file,
			  event->start_mark.line + 1, event->start_mark.column + 1);
		yaml_event_delete(event);
		return NULL;
	}
	switch (event->type) {
	case YAML_SCALAR_EVENT:
		return yaml_read_text(b, event);
	case YAML_SEQUENCE_START_EVENT:
		node = new_node(b, event, YAML_LIST);
		yaml_event_delete(event);
		return yaml_read_list(b, node, depth);
	case YAML_MAPPING_START_EVENT:
		node = new_node(b, event, YAML_MAP);
		yaml_event_delete(event);
		return read_map(b, node, depth);
	default:
		error_set(b->err, ERROR_USAGE, "%s:%zu:%zu: unexpected end", b->file,
			  event->start_mark.line + 1, event->start_mark.column + 1);
		yaml_event_delete(event);
		return NULL;
	}
}

static int read_document(struct builder *b, struct yaml **root)
{
	for (;;) {
		yaml_event_t event;
		yaml_event_type_t type;

		if (next_event(b, &event) < 0)
			return -1;
		type = event.type;
		if (type == YAML_STREAM_END_EVENT) {
			yaml_event_delete(&event);
			if (!*root) {
				*root = ARENA_NEW(b->arena, struct yaml);
				**root = (struct yaml){
					.kind = YAML_MAP, .file = b->file, .line = 1, .column = 1};
			}
			return 0;
		}
		if (type == YAML_STREAM_START_EVENT || type == YAML_DOCUMENT_START_EVENT ||
		    type == YAML_DOCUMENT_END_EVENT) {
			yaml_event_delete(&event);
			continue;
		}
		if (*root) {
			error_set(b->err, ERROR_USAGE,
				  "%s:%zu:%zu: the file holds more than one document", b->file,
				  event.start_mark.line + 1, event.start_mark.column + 1);
			yaml_event_delete(&event);
			return -1;
		}
		*root = read_node(b, &event, 0);
		if (!*root)
			return -1;
	}
}

/* libyaml compares each %TAG with all before it, and no file of ours has use for one. */
static int yaml_refuse_directives(const char *name, const char *text, size_t length,
				  struct error *err)
{
	int line = 1;

	for (const char *p = text, *end = text + length; p < end; line++) {
		const char *next = memchr(p, '\n', (size_t)(end - p));

		if (end - p >= 4 && memcmp(p, "%TAG", 4) == 0)
			return error_set(err, ERROR_USAGE, "%s:%d:1: %%TAG is not supported", name,
					 line);
		p = next ? next + 1 : end;
	}
	return 0;
}

int yaml_parse(const char *name, const char *text, size_t length, struct arena *arena,
	       struct yaml **root, struct error *err)
{
	yaml_parser_t parser;
	struct builder b = {
		.parser = &parser, .arena = arena, .file = arena_strdup(arena, name), .err = err};
	int rc;

	if (yaml_refuse_directives(name, text, length, err) < 0)
		return -1;
	if (!yaml_parser_initialize(&parser))
		oom();
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, length);
	*root = NULL;
	rc = read_document(&b, root);
	yaml_parser_delete(&parser);
	return rc;
}

int yaml_load(const char *path, struct arena *arena, struct yaml **root, struct error *err)
{
	char *text;
	size_t length;

	if (file_read_named(path, FILE_CEILING_BYTES, arena, &text, &length, err) < 0)
		return error_of_input(err);
	return yaml_parse(path, text, length, arena, root, err);
}
