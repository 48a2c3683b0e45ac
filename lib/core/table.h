/* SPDX-License-Identifier: MIT */
/*
 * table.h - CSV files as the catalog writes them.
 *
 * Dialect: comma, header line, ASCII or UTF-8, no quoting and no commas inside cells (inner commas
 * are
 * ';'), '#' starts a comment line. Cells live in the arena.
 */
#ifndef CORE_TABLE_H
#define CORE_TABLE_H

#include "core/arena.h"
#include "core/error.h"

struct table {
	const char *path;
	size_t column_count, row_count, header_line;
	const char **columns; /* column_count names */
	const char **cells;   /* row_count * column_count, row by row; never NULL */
	size_t *lines;	      /* the line of each row in its file, from 1 */
	const char **paths;   /* the file of each row */
};

/* A row with too few or too many cells, or a second column of the same name, is an error with its
 * line. */
int table_load(const char *path, struct arena *arena, struct table *table, struct error *err);

/* The same of a file's text, which the table keeps and takes apart; `path` is for errors. */
int table_parse(const char *path, char *text, size_t length, struct arena *arena,
		struct table *table, struct error *err);

/* The place of the column in a row, or -1 when the table has no such column. */
int table_column(const struct table *table, const char *column);

/* The cell, or "" when the table has no such column. */
const char *table_cell(const struct table *table, size_t row, const char *column);

/* The same by the column's place, for whoever reads many rows; "" for -1. */
static inline const char *table_at(const struct table *table, size_t row, int column)
{
	return column < 0 ? "" : table->cells[row * table->column_count + (size_t)column];
}

/*
 * Puts the rows of `more` over those of `table`. `keys` is a NULL-terminated list of columns;
 * columns that the table lacks do not count. A row with the same cells in these columns as an old
 * row replaces that row. Any other row is added. Columns are matched by name: a column that `more`
 * lacks is "", and a column that only `more` has is dropped.
 */
void table_merge(struct table *table, const struct table *more, const char *const *keys,
		 struct arena *arena);

bool table_has_column(const struct table *table, const char *column);

#endif
