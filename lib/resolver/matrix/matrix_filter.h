/* SPDX-License-Identifier: MIT */
/* matrix_filter.h - the rows that go with requests. */
#ifndef RESOLVER_MATRIX_MATRIX_FILTER_H
#define RESOLVER_MATRIX_MATRIX_FILTER_H

#include "resolver/matrix/matrix.h"

/* Leaves only the rows that fit: the second half of matrix_read. */
int matrix_filter(const struct catalog *catalog, const char *const *requests, struct arena *arena,
		  struct matrix *matrix, struct error *err);

#endif
