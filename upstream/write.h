/* SPDX-License-Identifier: MIT */
/* write.h - puts the changes of rows.h into the files of a catalog folder. */
#ifndef UPSTREAM_WRITE_H
#define UPSTREAM_WRITE_H

#include "upstream/rows.h"

/*
 * Writes all changes but contradictions into `folders[0]`, which is made if missing; the others are those that are
 * read behind it (catalog_load_path). Lines that do not change stay byte for byte as they are; a new row
 * goes where its version belongs. The result is made in a folder beside and checked there (matrix_check): when the
 * check finds anything, nothing is written and the error names the finding.
 */
int rows_write(const struct rows *rows, const char *const *folders, struct error *err);

/* The text of one file after its changes. `text` is what it has now, or "" when it is missing. */
int rows_edit(const struct rows *rows, const char *table, const char *path, const char *text,
	      struct arena *arena, const char **edited, struct error *err);

#endif
