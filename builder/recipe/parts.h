/* SPDX-License-Identifier: MIT */
/*
 * parts.h - recipes/FOLDER/NAME.recipe: one file per package manager, component, way to get a
 * component, or framework.
 *
 * A recipe begins with "key: value" lines:
 *
 *   order: 300                                   its place among the parts of a stack
 *   when: openmpi.kind==source & openmpi.download  all of it must hold; no line: always
 *
 * and goes on with sections, each begun by a line "--- NAME" (docs/recipes.md says which there
 * are). "--- value NAME" gives later parts the name for its text.
 *
 * A condition is one alternative, or several with '|' between. An alternative is NAME (has a
 * value), !NAME (has none), NAME==TEXT, NAME!=TEXT, NAME~WORD (one of the ';'-separated words),
 * NAME>=VERSION or NAME<VERSION. Names are the values of the stack; one that is not known counts as
 * empty.
 */
#ifndef BUILDER_RECIPE_PARTS_H
#define BUILDER_RECIPE_PARTS_H

#include "core/arena.h"
#include "core/template.h"

#include <stdint.h>

#define PARTS_MAX 256
#define VALUES_MAX 2048
#define VALUES_SLOTS (4 * VALUES_MAX)

struct section {
	const char *name; /* "build", "value packages.begin" */
	const char *text;
	int line; /* of the text in its file */
};

struct part {
	const char *path, *name, *when; /* name: the path's last part */
	int order;
	size_t section_count;
	struct section *sections; /* section_count */
};

struct parts {
	size_t count;
	struct part list[PARTS_MAX]; /* by order, then by name */
};

/* The names that recipes may use; later ones hide earlier ones of the same name. */
struct values {
	size_t count;
	struct template_value list[VALUES_MAX + 1];
	uint16_t slots
		[VALUES_SLOTS]; /* by the hash of a name: its place in the list, from 1; 0: free */
};

void values_set(struct values *values, const char *name, const char *value);

/* "" when the name is not known. */
const char *values_get(const struct values *values, const char *name);

/*
 * All recipes of a folder and of the folders in it; their texts live in the arena. ERROR_USAGE names
 * the file and line of what cannot be read, or two files of one name.
 */
int parts_load(const char *folder, struct arena *arena, struct parts *parts, struct error *err);

/* Sets *applies; ERROR_USAGE when the condition cannot be read. */
int part_applies(const struct part *part, const struct values *values, bool *applies,
		 struct error *err);

/* The section of that name, or NULL. */
const struct section *part_section(const struct part *part, const char *name);

#endif
