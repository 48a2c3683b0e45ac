/* SPDX-License-Identifier: MIT */
#include "resolver/matrix/matrix.h"

#include "core/str.h"
#include "core/words.h"
#include "plan/arch.h"
#include "plan/version.h"
#include "resolver/matrix/matrix_filter.h"
#include "resolver/matrix/matrix_view.h"

#include <stdlib.h>
#include <string.h>

bool matrix_cell_is_needs(const char *cell)
{
	return *cell && strchr("=!<>~", *cell);
}

static bool is_sentence(const char *cell)
{
	return strchr(cell, ' ') != NULL;
}

static const char *spell_out(const char *cell, struct arena *arena)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (; *cell; cell++)
		if (*cell == ';')
			str_add(&text, ", ");
		else if (*cell == '|')
			str_add(&text, " or ");
		else
			str_add_char(&text, *cell);
	return arena_strndup(arena, text.text, text.length);
}

const char *matrix_cell_text(const char *cell, struct arena *arena)
{
	if (strpbrk(cell, ";|") && (matrix_cell_is_needs(cell) || !is_sentence(cell)))
		return spell_out(cell, arena);
	return cell;
}

const char *matrix_cell(const struct matrix *matrix, size_t index, const char *column)
{
	return table_cell(matrix->table, matrix->rows[index], column);
}

void matrix_show_all(struct matrix *matrix, struct arena *arena)
{
	const char **columns = ARENA_ARRAY(arena, matrix->table->column_count + 1, const char *);

	memcpy(columns, matrix->table->columns, matrix->table->column_count * sizeof(*columns));
	matrix->columns = columns;
}

/* --- the order ------------------------------------------------------------------------------ */

struct order {
	const struct table *table;
	const char *const *columns;
};

static int compare_rows(const void *left, const void *right, void *arg)
{
	const size_t *a = left, *b = right;
	const struct order *order = arg;

	for (const char *const *column = order->columns; *column; column++) {
		int newer = version_compare(table_cell(order->table, *b, *column),
					    table_cell(order->table, *a, *column));

		if (newer)
			return newer;
	}
	return (*a > *b) - (*a < *b);
}

static void sort_rows(const struct matrix_view *view, struct arena *arena, struct matrix *matrix)
{
	struct order order = {matrix->table, view->order};

	matrix->count = matrix->table->row_count;
	matrix->rows = ARENA_ARRAY(arena, matrix->count + 1, size_t);
	for (size_t i = 0; i < matrix->count; i++)
		matrix->rows[i] = i;
	qsort_r(matrix->rows, matrix->count, sizeof(*matrix->rows), compare_rows, &order);
}

/* Picks the view's columns that the table has; a user's own catalog may lack some. */
static void pick_columns(const struct matrix_view *view, struct arena *arena, struct matrix *matrix)
{
	const char **columns;
	size_t count = 0;

	matrix_show_all(matrix, arena);
	if (!view->columns)
		return;
	columns = ARENA_ARRAY(arena, matrix->table->column_count + 1, const char *);
	for (const char *const *column = view->columns; *column; column++)
		if (table_has_column(matrix->table, *column))
			columns[count++] = *column;
	if (count)
		matrix->columns = columns;
}

static void open_table(const struct table *table, const char *name, struct arena *arena,
		       struct matrix *matrix)
{
	const struct matrix_view *view = matrix_view(name);

	*matrix = (struct matrix){.name = name, .table = table};
	pick_columns(view, arena, matrix);
	sort_rows(view, arena, matrix);
}

/* --- the tables ----------------------------------------------------------------------------- */

/* The newest version of a table that is ordered by version first; "" for other tables. */
static const char *newest(const struct table *table, const char *name, struct arena *arena)
{
	const char *const *order = matrix_view(name)->order;
	struct matrix matrix;

	if (!table->row_count || !*order || strcmp(*order, "component") == 0)
		return "";
	open_table(table, name, arena, &matrix);
	return matrix_cell(&matrix, 0, "version");
}

void matrix_list(const struct catalog *catalog, struct arena *arena, struct matrix *matrix)
{
	struct table *list = ARENA_NEW(arena, struct table);
	const char **cells;

	list->column_count = 4;
	list->columns = ARENA_ARRAY(arena, list->column_count, const char *);
	memcpy(list->columns, WORDS("name", "rows", "newest", "about"),
	       list->column_count * sizeof(*list->columns));
	list->cells = cells = ARENA_ARRAY(arena, catalog->count * 4 + 1, const char *);
	for (size_t i = 0; i < catalog->count; i++) {
		const char *name = catalog->names[i];
		const char *arch = catalog_arch_of(name, arena, &name);

		*cells++ = catalog->names[i];
		*cells++ = arena_printf(arena, "%zu", catalog->tables[i].row_count);
		*cells++ = newest(&catalog->tables[i], name, arena);
		*cells++ = arch ? arena_printf(arena, "%s: %s", arch, matrix_view(name)->about)
				: matrix_view(name)->about;
	}
	list->row_count = catalog->count;
	*matrix = (struct matrix){.name = "", .table = list, .count = list->row_count};
	matrix->rows = ARENA_ARRAY(arena, matrix->count + 1, size_t);
	for (size_t i = 0; i < matrix->count; i++)
		matrix->rows[i] = i;
	matrix_show_all(matrix, arena);
}

static int refuse_table(const struct catalog *catalog, const char *name, struct error *err)
{
	_cleanup_(str_release) struct str list = STR_INIT;
	const char *near = nearest_word(name, catalog->names);

	for (size_t i = 0; i < catalog->count; i++)
		str_addf(&list, "%s%s", i ? " " : "", catalog->names[i]);
	error_set(err, ERROR_USAGE, "the catalog has no table '%s', only: %s", name, list.text);
	return near ? error_advise(err, "did you mean '%s'?", near) : -1;
}

/* The requests without those about the processor, of which the last one is *arch. */
static const char *const *take_processor(const char *const *requests, struct arena *arena,
					 const char **arch)
{
	struct words others = WORDS_INIT(arena);
	struct error ignored = {0};
	struct requirement req;

	for (; *requests; requests++)
		if (requirement_parse(*requests, arena, &req, &ignored) == 0 &&
		    strcmp(req.name, "arch") == 0 && req.clause_count == 1 &&
		    arch_by_name(req.clauses[0].version))
			*arch = arch_by_name(req.clauses[0].version);
		else
			words_add(&others, *requests);
	return words_list(&others);
}

int matrix_read(const struct catalog *catalog, const char *name, const char *const *requests,
		struct arena *arena, struct matrix *matrix, struct error *err)
{
	const char *arch = catalog_arch_of(name, arena, &name);
	const struct table *table;

	table = catalog_table(catalog, name);
	if (!table || !table_has_column(table, "arch"))
		requests = take_processor(requests, arena, &arch);
	catalog = catalog_for(catalog, arch, arena);
	table = catalog_table(catalog, name);
	if (!table)
		return refuse_table(catalog, name, err);
	open_table(table, name, arena, matrix);
	return *requests ? matrix_filter(catalog, requests, arena, matrix, err) : 0;
}
