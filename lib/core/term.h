/* SPDX-License-Identifier: MIT */
/* term.h - what the terminal can do, and aligned tables. */
#ifndef CORE_TERM_H
#define CORE_TERM_H

#include "core/arena.h"

#include <stdio.h>

bool term_is_tty(FILE *stream);
/* Columns of the terminal; 80 when the stream is no terminal. */
int term_width(FILE *stream);
/* Whether to use colour: `mode` is "auto", "always" or "never"; honours NO_COLOR and TERM=dumb. */
bool term_color(FILE *stream, const char *mode);

#define TERM_COLUMNS_MAX 16

/* A table whose columns are as wide as their widest cell. Cells live in the arena, cleaned. */
struct term_table {
	struct arena *arena;
	size_t column_count, row_count, capacity;
	const char **cells;
	bool right[TERM_COLUMNS_MAX]; /* columns to align right (numbers) */
};

/*
 * `header` is a NULL-terminated list of column names; a name that begins with '>' is right-aligned.
 */
void term_table_init(struct term_table *table, struct arena *arena, const char *const *header);
/* One row: as many words as the header has; NULL counts as "-". */
void term_table_row(struct term_table *table, const char *const *cells);
void term_table_print(const struct term_table *table, FILE *out);

#endif
