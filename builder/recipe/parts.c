/* SPDX-License-Identifier: MIT */
#include "builder/recipe/parts.h"

#include "core/file.h"
#include "plan/version.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONDITION_BYTES 256

/* --- values --------------------------------------------------------------------------------- */

/* The slot of the name, or the free one that it would have. */
static size_t slot_of(const struct values *values, const char *name)
{
	uint32_t hash = 2166136261; /* FNV-1a */

	for (const char *c = name; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619;
	for (size_t slot = hash % VALUES_SLOTS;; slot = (slot + 1) % VALUES_SLOTS)
		if (!values->slots[slot] ||
		    strcmp(values->list[values->slots[slot] - 1].name, name) == 0)
			return slot;
}

void values_set(struct values *values, const char *name, const char *value)
{
	size_t slot = slot_of(values, name);

	if (!values->slots[slot]) {
		if (values->count == VALUES_MAX)
			abort(); /* more columns than a catalog has */
		values->slots[slot] = (uint16_t)++values->count;
	}
	values->list[values->slots[slot] - 1] = (struct template_value){name, value};
}

const char *values_get(const struct values *values, const char *name)
{
	size_t slot = slot_of(values, name);

	return values->slots[slot] ? values->list[values->slots[slot] - 1].value : "";
}

/* --- files ---------------------------------------------------------------------------------- */

static int read_key(struct part *part, char *line, int number, struct error *err)
{
	char *value = strchr(line, ':');

	if (!*line || *line == '#')
		return 0;
	if (value) {
		*value++ = '\0';
		value += strspn(value, " ");
	}
	if (value && strcmp(line, "order") == 0)
		part->order = (int)strtol(value, NULL, 10);
	else if (value && strcmp(line, "when") == 0)
		part->when = value;
	else
		return error_set(err, ERROR_USAGE,
				 "%s:%d: '%s' is neither 'order: N' nor 'when: CONDITION'",
				 part->path, number, line);
	return 0;
}

/* Cuts the text into lines up to the first section; *rest begins with it. */
static int read_head(struct part *part, char *text, char **rest, int *number, struct error *err)
{
	while (*text && !starts_with(text, "--- ")) {
		char *next = strchr(text, '\n');

		if (next)
			*next++ = '\0';
		if (read_key(part, text, *number, err) < 0)
			return -1;
		text = next ? next : text + strlen(text);
		(*number)++;
	}
	*rest = text;
	return 0;
}

/* The next line that begins a section, or the end. */
static char *section_end(char *text, int *number)
{
	while (*text && !starts_with(text, "--- ")) {
		char *next = strchr(text, '\n');

		(*number)++;
		text = next ? next + 1 : text + strlen(text);
	}
	return text;
}

static void read_sections(struct part *part, char *text, int number, struct arena *arena)
{
	size_t count = 1;

	for (const char *at = text; (at = strstr(at, "\n--- ")); at++)
		count++;
	part->sections = ARENA_ARRAY(arena, count, struct section);
	while (*text) {
		struct section *section = &part->sections[part->section_count];
		size_t length = strcspn(text, "\n");
		char *body = text + length + (text[length] == '\n'), *end;

		part->section_count++;
		section->name = arena_strndup(arena, text + 4, length - 4);
		section->line = ++number;
		end = section_end(body, &number);
		section->text = arena_strndup(arena, body, (size_t)(end - body));
		text = end;
	}
}

static int compare_parts(const void *left, const void *right)
{
	const struct part *a = left, *b = right;

	return a->order != b->order ? a->order - b->order : strcmp(a->name, b->name);
}

static int load_part(const char *path, struct arena *arena, struct part *part, struct error *err)
{
	char *text, *rest;
	int number = 1;

	*part = (struct part){.path = path, .name = strrchr(path, '/') + 1, .when = ""};
	if (file_read(path, FILE_CEILING_BYTES, arena, &text, NULL, err) < 0 ||
	    read_head(part, text, &rest, &number, err) < 0)
		return -1;
	read_sections(part, rest, number, arena);
	return 0;
}

/* The name decides between parts of one order, so it may stand in one folder only. */
static int refuse_twin(const struct parts *parts, const char *path, const char *name,
		       struct error *err)
{
	for (size_t i = 0; i < parts->count; i++)
		if (strcmp(parts->list[i].name, name) == 0)
			return error_set(err, ERROR_USAGE, "%s has the name of %s: rename one",
					 path, parts->list[i].path);
	return 0;
}

static int load_folder_parts(const char *folder, struct arena *arena, struct parts *parts,
			     struct error *err)
{
	const char **names;

	if (folder_list(folder, ".recipe", arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		const char *path = arena_printf(arena, "%s/%s", folder, *names);

		if ((*names)[0] == '.') /* an editor's file */
			continue;
		if (refuse_twin(parts, path, *names, err) < 0)
			return -1;
		if (parts->count == PARTS_MAX)
			return error_set(err, ERROR_USAGE, "%s: more than %d recipes", folder,
					 PARTS_MAX);
		if (load_part(path, arena, &parts->list[parts->count++], err) < 0)
			return -1;
	}
	return 0;
}

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int parts_load(const char *folder, struct arena *arena, struct parts *parts, struct error *err)
{
	const char **names;

	parts->count = 0;
	if (load_folder_parts(folder, arena, parts, err) < 0 ||
	    folder_list(folder, "", arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		const char *path = arena_printf(arena, "%s/%s", folder, *names);

		if ((*names)[0] != '.' && is_folder(path) &&
		    load_folder_parts(path, arena, parts, err) < 0)
			return -1;
	}
	qsort(parts->list, parts->count, sizeof(*parts->list), compare_parts);
	return 0;
}

/* --- conditions ------------------------------------------------------------------------------ */

/* One alternative, cut off from its neighbours. */
static bool holds_one(const struct values *values, char *text)
{
	static const char *const signs[] = {"==", "!=", ">=", "<", "~"};
	size_t at = strcspn(text, "=!><~");
	const char *value, *right;
	size_t sign = 0;

	if (*text == '!')
		return !*values_get(values, text + 1);
	if (!text[at])
		return *values_get(values, text) != '\0';
	while (sign < ARRAY_LEN(signs) - 1 && !starts_with(text + at, signs[sign]))
		sign++;
	right = text + at + strlen(signs[sign]);
	text[at] = '\0';
	value = values_get(values, text);
	switch (sign) {
	case 0:
		return strcmp(value, right) == 0;
	case 1:
		return strcmp(value, right) != 0;
	case 2:
		return *value && version_compare(value, right) >= 0;
	case 3:
		return *value && version_compare(value, right) < 0;
	default:
		return list_has(value, right, strlen(right));
	}
}

/* "a | b": one of them holds. */
static bool parts_holds(const struct values *values, char *text)
{
	while (text) {
		char *next = strchr(text, '|'), *end = next ? next : text + strlen(text);

		while (end > text && end[-1] == ' ')
			end--;
		*end = '\0';
		if (holds_one(values, text))
			return true;
		text = next ? next + 1 + strspn(next + 1, " ") : NULL;
	}
	return false;
}

int part_applies(const struct part *part, const struct values *values, bool *applies,
		 struct error *err)
{
	const char *at = part->when;

	*applies = true;
	while (*at && *applies) {
		size_t length = strcspn(at, "&"), trimmed = length;
		char text[CONDITION_BYTES];

		while (trimmed && at[trimmed - 1] == ' ')
			trimmed--;
		if (!trimmed || trimmed >= sizeof(text))
			return error_set(err, ERROR_USAGE, "%s: cannot read 'when: %s'", part->path,
					 part->when);
		memcpy(text, at, trimmed);
		text[trimmed] = '\0';
		*applies = parts_holds(values, text);
		at += length + (at[length] == '&');
		at += strspn(at, " ");
	}
	return 0;
}

const struct section *part_section(const struct part *part, const char *name)
{
	for (size_t i = 0; i < part->section_count; i++)
		if (strcmp(part->sections[i].name, name) == 0)
			return &part->sections[i];
	return NULL;
}
