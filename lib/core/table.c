/* SPDX-License-Identifier: MIT */
#include "core/table.h"

#include "core/file.h"

#include <string.h>

#define TABLE_COLUMNS_MAX 64

/* Splits a line at commas, in place; keeps `max` cells and returns how many there were. */
static size_t split_cells(char *line, const char **cells, size_t max)
{
	size_t count = 0;

	for (char *cell = line; cell; count++) {
		char *comma = strchr(cell, ',');

		if (comma)
			*comma++ = '\0';
		if (count < max)
			cells[count] = cell;
		cell = comma;
	}
	return count;
}

static int read_header(struct table *table, char *line, size_t number, struct arena *arena,
		       struct error *err)
{
	table->columns = ARENA_ARRAY(arena, TABLE_COLUMNS_MAX + 1, const char *);
	table->header_line = number;
	table->column_count = split_cells(line, table->columns, TABLE_COLUMNS_MAX);
	if (table->column_count > TABLE_COLUMNS_MAX)
		return error_set(err, ERROR_USAGE, "%s:%zu: more than %d columns", table->path,
				 number, TABLE_COLUMNS_MAX);
	for (size_t i = 0; i < table->column_count; i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(table->columns[i], table->columns[j]) == 0)
				return error_set(err, ERROR_USAGE, "%s:%zu: two columns named '%s'",
						 table->path, number, table->columns[i]);
	return 0;
}

static int read_row(struct table *table, char *line, size_t number, struct error *err)
{
	const char *cells[TABLE_COLUMNS_MAX];
	size_t count = split_cells(line, cells, TABLE_COLUMNS_MAX);

	if (count != table->column_count)
		return error_set(err, ERROR_USAGE, "%s:%zu: %zu cells, the header has %zu",
				 table->path, number, count, table->column_count);
	memcpy(table->cells + table->row_count * table->column_count, cells,
	       table->column_count * sizeof(*cells));
	table->paths[table->row_count] = table->path;
	table->lines[table->row_count++] = number;
	return 0;
}

int table_load(const char *path, struct arena *arena, struct table *table, struct error *err)
{
	char *text;
	size_t length;

	if (file_read(path, FILE_CEILING_BYTES, arena, &text, &length, err) < 0)
		return error_of_input(err);
	return table_parse(path, text, length, arena, table, err);
}

int table_parse(const char *path, char *text, size_t length, struct arena *arena,
		struct table *table, struct error *err)
{
	size_t line_count = 1, number = 0;

	*table = (struct table){.path = arena_strdup(arena, path)};
	if (strlen(text) != length)
		return error_set(err, ERROR_USAGE, "%s holds a NUL, which no text can hold", path);
	for (const char *p = strchr(text, '\n'); p; p = strchr(p + 1, '\n'))
		line_count++;
	table->lines = ARENA_ARRAY(arena, line_count, size_t);
	table->paths = ARENA_ARRAY(arena, line_count, const char *);
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		number++;
		if (!*line || *line == '#')
			continue;
		if (!table->columns) {
			if (read_header(table, line, number, arena, err) < 0)
				return -1;
			table->cells = arena_array(arena, line_count * table->column_count,
						   sizeof(const char *));
		} else if (read_row(table, line, number, err) < 0) {
			return -1;
		}
	}
	if (!table->columns)
		return error_set(err, ERROR_USAGE, "%s: no header line", path);
	return 0;
}

int table_column(const struct table *table, const char *column)
{
	for (size_t i = 0; i < table->column_count; i++)
		if (table->columns[i][0] == column[0] && strcmp(table->columns[i], column) == 0)
			return (int)i;
	return -1;
}

const char *table_cell(const struct table *table, size_t row, const char *column)
{
	return table_at(table, row, table_column(table, column));
}

bool table_has_column(const struct table *table, const char *column)
{
	return table_column(table, column) >= 0;
}

static bool same_key(const struct table *a, size_t i, const struct table *b, size_t j,
		     const char *const *keys)
{
	for (; *keys; keys++)
		if (table_has_column(a, *keys) &&
		    strcmp(table_cell(a, i, *keys), table_cell(b, j, *keys)) != 0)
			return false;
	return true;
}

/* The table with room for `extra` more rows. */
static void grow(struct table *table, size_t extra, struct arena *arena)
{
	struct table old = *table;
	size_t rows = old.row_count + extra + 1;

	table->cells = arena_array(arena, rows * old.column_count, sizeof(const char *));
	table->lines = ARENA_ARRAY(arena, rows, size_t);
	table->paths = ARENA_ARRAY(arena, rows, const char *);
	memcpy(table->cells, old.cells, old.row_count * old.column_count * sizeof(const char *));
	memcpy(table->lines, old.lines, old.row_count * sizeof(*old.lines));
	memcpy(table->paths, old.paths, old.row_count * sizeof(*old.paths));
}

void table_merge(struct table *table, const struct table *more, const char *const *keys,
		 struct arena *arena)
{
	size_t old_count = table->row_count;

	grow(table, more->row_count, arena);
	for (size_t row = 0; row < more->row_count; row++) {
		size_t to = 0;

		while (to < old_count && !same_key(table, to, more, row, keys))
			to++;
		if (to == old_count)
			to = table->row_count++;
		for (size_t i = 0; i < table->column_count; i++)
			table->cells[to * table->column_count + i] =
				table_cell(more, row, table->columns[i]);
		table->lines[to] = more->lines[row];
		table->paths[to] = more->paths[row];
	}
}
