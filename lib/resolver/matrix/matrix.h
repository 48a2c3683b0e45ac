/* SPDX-License-Identifier: MIT */
/*
 * matrix.h - the catalog's tables as people look them up: newest row first, only the rows that go
 * with what is there ("driver==470"), and the check of every row.
 *
 * Reads nothing but the catalog. Everything lives in the arena.
 */
#ifndef RESOLVER_MATRIX_MATRIX_H
#define RESOLVER_MATRIX_MATRIX_H

#include "core/words.h"
#include "resolver/catalog.h"
#include "plan/component.h"
#include "plan/version.h"

/* How a table is shown; NULL-terminated lists, NULL where there is nothing to say. */
struct matrix_view {
	const char *name, *about;
	const char *const *columns; /* those that people look for; NULL: all */
	const char *const *order;   /* newest first by these columns, then as in the file */
};

/* Never NULL: a table that is not known here is shown whole, newest version first. */
const struct matrix_view *matrix_view(const char *name);

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
 * The table's rows that the request words admit. A request on a component: the rows of a component
 * that are part of a stack that satisfies all requests; of any other table, and for names that are
 * columns only, the rows whose cell fits.
 *
 * ERROR_USAGE: there is no such table, or a word is no REQ or names nothing that the table can be
 * asked about. ERROR_UNSATISFIED: no row fits (matrix->count is 0); the error says which request is
 * to be left out.
 */
int matrix_read(const struct catalog *catalog, const char *name, const char *const *requests,
		struct arena *arena, struct matrix *matrix, struct error *err);

/* Leaves only the rows that fit; matrix_read's second half. */
int matrix_filter(const struct catalog *catalog, const char *const *requests, struct arena *arena,
		  struct matrix *matrix, struct error *err);

/* A request on a cell of each row, not on a stack. */
struct matrix_question {
	struct requirement req;
	const char *column; /* NULL: a condition in the column `when` */
	struct words known; /* versions of that component that it admits */
};

/* ERROR_USAGE: the word is no REQ, or names no column of the table. */
int matrix_ask(const struct catalog *catalog, const struct matrix *matrix, const char *text,
	       struct arena *arena, struct matrix_question *ask, struct error *err);

/*
 * Whether the row's cell fits. A cell with operators fits when some known version passes both. An
 * empty cell fits nothing, except that a row without an OS is for all.
 */
bool matrix_fits(const struct matrix *matrix, const struct matrix_question *ask,
		 struct arena *arena, size_t row);

/* The matrix with every column that the table has. */
void matrix_show_all(struct matrix *matrix, struct arena *arena);

const char *matrix_cell(const struct matrix *matrix, size_t index, const char *column);

/* As people write it: "==2.7.*|>=3.3;<3.7" is "==2.7.* or >=3.3, <3.7", "a;b" is "a, b". */
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

/*
 * Checks every row: versions, requirement cells, sources, certainties, OS names, conditions of
 * conflicts.csv, and that no two rows are the same fact.
 */
void matrix_check(const struct catalog *catalog, struct arena *arena, struct matrix_report *report);

#endif
