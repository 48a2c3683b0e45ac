/* SPDX-License-Identifier: MIT */
/*
 * catalog.h - the version facts: recipes/catalog/NAME.csv, one file per component.
 *
 * Columns that every component file has: version, os (the OS the row is for; empty: any),
 * run_packages and build_packages (';' between exact package words, "name=version"), note,
 * certainty, source (ids in sources.csv). os.csv has the OS names in `version` and more columns of
 * its own. A new version is one row; nothing is compiled.
 */
#ifndef PLAN_CATALOG_H
#define PLAN_CATALOG_H

#include "core/arena.h"
#include "core/digest.h"
#include "core/error.h"
#include "core/table.h"

#define CATALOG_COMPONENTS_MAX 32

struct catalog {
	const char *folder;
	size_t count;
	const char *names[CATALOG_COMPONENTS_MAX + 1]; /* component names, NULL-terminated */
	struct table tables[CATALOG_COMPONENTS_MAX];
	char revision[DIGEST_TEXT_BYTES]; /* digest of all files: what a lock names */
};

/* Loads every *.csv of the folder except sources.csv. Errors name the file and line. */
int catalog_load(const char *folder, struct arena *arena, struct catalog *catalog,
		 struct error *err);

/* The component's table, or NULL. */
const struct table *catalog_table(const struct catalog *catalog, const char *component);

#endif
