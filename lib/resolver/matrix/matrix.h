/* SPDX-License-Identifier: MIT */
/*
 * matrix.h - the catalog's tables as people look them up: newest row first, and only the rows that
 * fit requests such as "driver==470". It also checks every row.
 *
 * Reads nothing but the catalog. Everything lives in the arena.
 */
#ifndef RESOLVER_MATRIX_MATRIX_H
#define RESOLVER_MATRIX_MATRIX_H

#include "core/words.h"
#include "resolver/catalog.h"
#include "plan/component.h"
#include "plan/version.h"

/* How a table is shown. Lists are NULL-terminated, or NULL when empty. */
struct matrix_view {
	const char *name, *about;
	const char *const *columns; /* the columns that people look for; NULL: all */
	const char *const *order;   /* newest first by these columns, then as in the file */
};

struct matrix {
	const char *name; /* of the table; "" for the list of tables */
	const struct table *table;
	const char *const *columns; /* for people, NULL-terminated; all of them are in the table */
	size_t count;
	size_t *rows; /* of the table, newest first */
};

/* The list of tables: name, rows, newest, about. */
void matrix_list(const struct catalog *catalog, struct arena *arena, struct matrix *matrix);

/*
 * The table's rows that the request words admit. In a component's table, a request on a component
 * leaves the rows that are in some stack that satisfies all requests. In any other table, and for
 * names that are only columns, it leaves the rows whose cell fits.
 *
 * ERROR_USAGE: the table does not exist, or a word is not a REQ or does not concern this table.
 * ERROR_UNSATISFIED: no row fits (matrix->count is 0); the error says which request to leave out.
 */
int matrix_read(const struct catalog *catalog, const char *name, const char *const *requests,
		struct arena *arena, struct matrix *matrix, struct error *err);

/* A request that concerns a cell of each row, not a stack. */
struct matrix_question {
	struct requirement req;
	const char *column; /* NULL: a condition in the column `when` */
	struct words known; /* versions of that component that it admits */
};

/* The matrix with every column that the table has. */
void matrix_show_all(struct matrix *matrix, struct arena *arena);

const char *matrix_cell(const struct matrix *matrix, size_t index, const char *column);

/*
 * The cell as people write it: "==2.7.*|>=3.3;<3.7" becomes "==2.7.* or >=3.3, <3.7", and "a;b"
 * becomes "a, b".
 */
const char *matrix_cell_text(const char *cell, struct arena *arena);

/* Whether the cell holds clauses with operators. */
bool matrix_cell_is_needs(const char *cell);

struct matrix_finding {
	const char *file, *text;
	size_t line;
};

struct matrix_report {
	size_t rows, files;
	size_t count, capacity;
	struct matrix_finding *findings; /* in the order of files and lines */
};

#endif
