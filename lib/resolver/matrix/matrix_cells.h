/* SPDX-License-Identifier: MIT */
/* matrix_cells.h - which rows go with a requirement. */
#ifndef RESOLVER_MATRIX_MATRIX_CELLS_H
#define RESOLVER_MATRIX_MATRIX_CELLS_H

#include "resolver/matrix/matrix.h"

/*
 * Whether the row's cell fits. A cell with operators fits when some known version passes both. An
 * empty cell fits nothing, but a row without an OS fits every OS.
 */
bool matrix_fits(const struct matrix *matrix, const struct matrix_question *ask,
		 struct arena *arena, size_t row);

/* ERROR_USAGE: the word is not a REQ, or names no column of the table. */
int matrix_ask(const struct catalog *catalog, const struct matrix *matrix, const char *text,
	       struct arena *arena, struct matrix_question *ask, struct error *err);

#endif
