/* SPDX-License-Identifier: MIT */
/* matrix_check.h - a check of every row of the catalog. */
#ifndef RESOLVER_MATRIX_MATRIX_CHECK_H
#define RESOLVER_MATRIX_MATRIX_CHECK_H

#include "resolver/matrix/matrix.h"

/*
 * Checks every row: versions, requirement cells, sources, certainties, OS names, conditions of
 * conflicts.csv, and that no two rows are the same fact.
 */
void matrix_check(const struct catalog *catalog, struct arena *arena, struct matrix_report *report);

#endif
