/* SPDX-License-Identifier: MIT */
#include "deployer/engine/engine.h"

#include "core/str.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define X(name) extern const struct engine engine_##name;
#include "engine.list"
#undef X

const struct engine *const engines[] = {
#define X(name) &engine_##name,
#include "engine.list"
#undef X
	NULL};

const struct engine *engine_find(const char *name)
{
	for (const struct engine *const *e = engines; *e; e++)
		if (strcmp((*e)->name, name) == 0)
			return *e;
	return NULL;
}

static const struct engine_value *engine_value_find(const struct engine_value *values,
						    const char *name, size_t length)
{
	for (; values->name; values++)
		if (strlen(values->name) == length && memcmp(values->name, name, length) == 0)
			return values;
	abort(); /* a record names a value that its caller does not give: a slip in the program */
}

static void expand_text(const char *pattern, const struct engine_value *values, struct words *out)
{
	_cleanup_(str_release) struct str word = STR_INIT;

	while (*pattern) {
		if (starts_with(pattern, "@{")) {
			size_t length = strcspn(pattern + 2, "}");

			str_add(&word, engine_value_find(values, pattern + 2, length)->text);
			pattern += length + 3;
		} else {
			str_add_char(&word, *pattern++);
		}
	}
	words_add(out, word.text);
}

void engine_expand(const char *const *pattern, const struct engine_value *values, struct words *out)
{
	for (; *pattern; pattern++) {
		if ((*pattern)[0] == '@' && (*pattern)[1] != '{')
			words_add_all(out,
				      engine_value_find(values, *pattern + 1, strlen(*pattern + 1))
					      ->words);
		else
			expand_text(*pattern, values, out);
	}
}
