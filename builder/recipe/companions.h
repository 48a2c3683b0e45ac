/* SPDX-License-Identifier: MIT */
/*
 * companions.h - the packages that a component needs beside it and does not ask for itself:
 * recipes/catalog/companion.csv.
 *
 * A row holds for a component whose version its cell `versions` admits, on a Python that its cell
 * `python` admits; empty cells admit all.
 */
#ifndef BUILDER_RECIPE_COMPANIONS_H
#define BUILDER_RECIPE_COMPANIONS_H

#include "builder/recipe/parts.h"
#include "resolver/catalog.h"
#include "resolver/resolve.h"

/*
 * Sets COMPONENT.with (what pip is told beside the component's wheel) and COMPONENT.needs (what is
 * installed for a component that is built from an archive): the words of all rows that hold, in
 * their order, quoted for a shell and each with a blank before it; "" when no row holds. ERROR_USAGE
 * names the file and line of a cell that cannot be read.
 */
int companions_values(const struct plan *plan, const struct catalog *catalog, struct arena *arena,
		      struct values *values, struct error *err);

#endif
