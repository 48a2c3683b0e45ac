/* SPDX-License-Identifier: MIT */
#include "builder/recipe/companions.h"

#include "core/quote.h"
#include "core/str.h"
#include "plan/version.h"

#include <string.h>

struct companions {
	const struct table *table;
	const char *python; /* of the plan: "3.10", "3.11.2" */
	struct arena *arena;
};

static int companion_admits(const struct companions *c, size_t row, const char *column,
			    const char *version, bool *admits, struct error *err)
{
	const char *cell = table_cell(c->table, row, column);
	struct needs needs;

	*admits = true;
	if (!*cell)
		return 0;
	if (needs_parse(cell, c->arena, &needs, err) < 0)
		return error_wrap(err, "%s:%zu: %s", c->table->paths[row], c->table->lines[row],
				  column);
	*admits = *version && needs_admit(&needs, version);
	return 0;
}

/* "a;b" as " a b", each word quoted where a shell wants that. */
static void companion_add_words(struct str *out, const char *words, struct arena *arena)
{
	while (*words) {
		size_t length = strcspn(words, ";");

		str_add_char(out, ' ');
		quote_word(out, arena_strndup(arena, words, length));
		words += length + (words[length] == ';');
	}
}

/* All rows of one kind for one component. */
static int companion_words(const struct companions *c, const struct choice *choice,
			   const char *kind, const char **words, struct error *err)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	bool is_for_version, is_for_python;

	for (size_t row = 0; c->table && row < c->table->row_count; row++) {
		if (strcmp(table_cell(c->table, row, "component"), choice->name) != 0 ||
		    strcmp(table_cell(c->table, row, "kind"), kind) != 0)
			continue;
		if (companion_admits(c, row, "versions", choice->version, &is_for_version, err) <
			    0 ||
		    companion_admits(c, row, "python", c->python, &is_for_python, err) < 0)
			return -1;
		if (is_for_version && is_for_python)
			companion_add_words(&out, table_cell(c->table, row, "words"), c->arena);
	}
	*words = arena_strdup(c->arena, out.text);
	return 0;
}

int companions_values(const struct plan *plan, const struct catalog *catalog, struct arena *arena,
		      struct values *values, struct error *err)
{
	static const char *const kinds[] = {"with", "needs"};
	const struct companions c = {.table = catalog_table(catalog, "companion"),
				     .python = values_get(values, "python.version"),
				     .arena = arena};

	for (size_t i = 0; i < plan->count; i++)
		for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
			const struct choice *choice = &plan->choices[i];
			const char *words;

			if (companion_words(&c, choice, kinds[k], &words, err) < 0)
				return -1;
			values_set(values, arena_printf(arena, "%s.%s", choice->name, kinds[k]),
				   words);
		}
	return 0;
}
