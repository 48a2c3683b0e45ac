/* SPDX-License-Identifier: MIT */
/* matrix_view.h - which columns a table shows. */
#ifndef RESOLVER_MATRIX_MATRIX_VIEW_H
#define RESOLVER_MATRIX_MATRIX_VIEW_H

#include "resolver/matrix/matrix.h"

/* Never NULL. An unknown table is shown whole, newest version first. */
const struct matrix_view *matrix_view(const char *name);

#endif
