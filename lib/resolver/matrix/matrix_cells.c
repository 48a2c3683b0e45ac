/* SPDX-License-Identifier: MIT */
/* Requests that are about a cell of the row itself: kind==apt, and cuda==11.2 of an image. */
#include "resolver/matrix/matrix_cells.h"

#include "resolver/matrix/matrix.h"

#include "core/str.h"
#include "resolver/conditions.h"

#include <string.h>

/* The versions that the catalog knows of a component, and that the request admits. */
static void matrix_cells_find_known(const struct catalog *catalog, struct arena *arena,
				    struct matrix_question *ask)
{
	const struct table *table = catalog_table(catalog, ask->req.name);

	ask->known.arena = arena;
	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");

		if (requirement_admits_series(&ask->req, version))
			words_add(&ask->known, version);
	}
	/* for something that the catalog does not know: the versions that the request names */
	for (size_t i = 0; !ask->known.count && i < ask->req.clause_count; i++)
		if (requirement_admits_series(&ask->req, ask->req.clauses[i].version))
			words_add(&ask->known, ask->req.clauses[i].version);
}

static bool needs_fit(const struct matrix_question *ask, struct arena *arena, const char *cell)
{
	struct error ignored = {0};
	struct needs needs;

	if (needs_parse(cell, arena, &needs, &ignored) < 0)
		return false;
	for (size_t i = 0; i < ask->known.count; i++)
		if (needs_admit(&needs, ask->known.list[i]))
			return true;
	return false;
}

/*
 * The versions of the component in "openmpi==3.1.3 & horovod"; "" for any, NULL without a condition
 * on it.
 */
static const char *condition_on(struct arena *arena, const char *when, const char *name)
{
	struct conditions conditions;

	conditions_read(when, arena, &conditions);
	for (size_t i = 0; i < conditions.count; i++)
		if (strcmp(conditions.list[i].name, name) == 0)
			return conditions.list[i].versions;
	return NULL;
}

/* Whether one of the words between ';' fits, as in "418;440;470". */
static bool list_fits(const struct matrix_question *ask, struct arena *arena, const char *cell)
{
	while (*cell) {
		size_t length = strcspn(cell, ";");

		if (requirement_admits_series(&ask->req, arena_strndup(arena, cell, length)))
			return true;
		cell += length + (cell[length] == ';');
	}
	return false;
}

bool matrix_fits(const struct matrix *matrix, const struct matrix_question *ask,
		 struct arena *arena, size_t row)
{
	const struct table *table = matrix->table;
	const char *cell =
		ask->column ? table_cell(table, row, ask->column)
			    : condition_on(arena, table_cell(table, row, "when"), ask->req.name);

	if (!cell)
		return false;
	/* a condition without a version holds for all, and a row without an OS is for all */
	if (!*cell)
		return !ask->column || strcmp(ask->column, "os") == 0;
	if (!ask->req.clause_count)
		return true;
	return matrix_cell_is_needs(cell) ? needs_fit(ask, arena, cell)
					  : list_fits(ask, arena, cell);
}

/* Sets the error, which lists the columns that the table can be asked about. */
static int refuse_question(const struct matrix *matrix, const struct matrix_question *ask,
			   struct arena *arena, struct error *err)
{
	const struct table *table = matrix->table;
	struct words names = WORDS_INIT(arena);
	_cleanup_(str_release) struct str list = STR_INIT;
	const char *near;

	for (size_t i = 0; i < table->column_count; i++) {
		words_add(&names, table->columns[i]);
		str_addf(&list, "%s%s", i ? " " : "", table->columns[i]);
	}
	if (component_by_name(matrix->name) != COMPONENT_NONE || table_has_column(table, "when"))
		words_add_all(&names, component_names);
	near = nearest_word(ask->req.name, names.list);
	error_set(err, ERROR_USAGE, "'%s': the table %s has no column '%s', only: %s",
		  ask->req.text, matrix->name, ask->req.name, list.text);
	return near ? error_advise(err, "did you mean '%s'?", near) : -1;
}

int matrix_ask(const struct catalog *catalog, const struct matrix *matrix, const char *text,
	       struct arena *arena, struct matrix_question *ask, struct error *err)
{
	const struct table *table = matrix->table;
	const char *name;

	*ask = (struct matrix_question){0};
	if (requirement_parse(text, arena, &ask->req, err) < 0)
		return -1;
	name = ask->req.name;
	matrix_cells_find_known(catalog, arena, ask);
	if (table_has_column(table, name))
		ask->column = name;
	else if (strcmp(name, matrix->name) == 0 && table_has_column(table, "version"))
		ask->column = "version";
	else if (component_by_name(name) == COMPONENT_NONE || !table_has_column(table, "when"))
		return refuse_question(matrix, ask, arena, err);
	return 0;
}
