/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - the version facts: recipes/catalog/NAME.csv, one file per component.
 *
 * docs/catalog.md describes the columns. A new version is one row, and nothing is compiled. A
 * folder with os.csv is a whole catalog. Any other folder adds rows to the next one on the path, or
 * replaces rows with the same version, OS, kind and build.
 */
#ifndef RESOLVER_CATALOG_H
#define RESOLVER_CATALOG_H

#include "core/arena.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/table.h"

#define CATALOG_COMPONENTS_MAX 64

struct catalog {
	const char *folder; /* of the whole catalog */
	bool has_overlay;   /* rows of other folders lie over it */
	size_t count;
	const char *names[CATALOG_COMPONENTS_MAX + 1]; /* component names, NULL-terminated */
	struct table tables[CATALOG_COMPONENTS_MAX];
	char revision[DIGEST_TEXT_BYTES]; /* digest of all files: what a lock names */
	const char *arch;		  /* catalog_for's; NULL: x86_64 */
};

#define CATALOG_FOLDERS_MAX 8

/*
 * Two rows are the same fact when they are equal in those of these columns that the table has. A
 * user's own row then replaces the other one. cuda_least, branches and brands are columns of
 * require.csv: NVIDIA pushed some images more than once a day.
 */
extern const char *const catalog_key_columns[]; /* NULL-terminated */

/*
 * Loads every *.csv of the folders (NULL-terminated, first wins) down to the first whole catalog. A
 * folder that does not exist is skipped. A table of a folder before the last may lack columns, but
 * may not have others. Errors name the file and line.
 */
int catalog_load_path(const char *const *folders, struct arena *arena, struct catalog *catalog,
		      struct error *err);

/* The same with one folder. */
int catalog_load(const char *folder, struct arena *arena, struct catalog *catalog,
		 struct error *err);

/*
 * The catalog as it is for stacks of that processor ("aarch64"): its table NAME is the one of the file
 * NAME.ARCH.csv where there is such a file, and otherwise the one of NAME.csv, which then holds for
 * every processor. os.csv does not: without os.ARCH.csv there is no OS for that processor. The catalog
 * lives in the arena and shares the tables. NULL and "x86_64" give the catalog itself.
 */
const struct catalog *catalog_for(const struct catalog *catalog, const char *arch,
				  struct arena *arena);

/* "torch" and "aarch64" of the table torch.aarch64; NULL, and no *name, for other tables. */
const char *catalog_arch_of(const char *table, struct arena *arena, const char **name);

/* The table of the file NAME.csv itself, whatever the catalog is for; or NULL. */
const struct table *catalog_file(const struct catalog *catalog, const char *name);

/* The component's table, or NULL. */
const struct table *catalog_table(const struct catalog *catalog, const char *component);

/* Whether the column's cells name rows of that table: `key` and `ml_key` are of the table key. */
bool catalog_refers_to(const char *column, const char *table);

/*
 * A cell of a table whose rows have names in the first column: the column `install` of the package manager
 * `apt`, or the column `repository` of the OS `ubuntu22.04`. "" when there is no such table, row or column.
 */
const char *catalog_named(const struct catalog *catalog, const char *table, const char *name,
			  const char *column);

/* What stands between a package's name and its version: '=' or '-', as package_manager.csv says. */
char catalog_exact_sign(const struct catalog *catalog, const char *manager);

#endif
