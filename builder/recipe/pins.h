/* SPDX-License-Identifier: MIT */
/*
 * pins.h - all packages that come with a framework's wheel, each of one version with the checksums
 * of its files: recipes/wheels/, which .ci/pins.py writes.
 *
 * A row of sets.csv is for one requirement (column `for`) and one Python: what pip installs with
 * "tensorflow[and-cuda]==2.15.1" on Python 3.10. Its column `glibc` says which C library its wheels
 * need, and `packages` refers to rows of packages.csv: "NAME==VERSION" for the row without a build,
 * "NAME==VERSION:BUILD" for another selection of the same version's files. The row that is for
 * "COMPONENT-needs" has what a component asks for that is no wheel of PyPI.
 */
#ifndef BUILDER_RECIPE_PINS_H
#define BUILDER_RECIPE_PINS_H

#include "builder/recipe/parts.h"
#include "resolver/resolve.h"

/*
 * Sets COMPONENT.needs.pins, and FRAMEWORK.pins, as quoted words of pip, one a line, where there is a
 * set for the plan's framework and Python and its wheels run on the plan's glibc. A plan with several
 * frameworks gets no FRAMEWORK.pins, since their sets would undo each other. packages.csv is read
 * only when there is such a set.
 *
 * ERROR_USAGE names the file and line of a set that refers to no row, and of a row that is no
 * package with checksums: these words stand in a Dockerfile.
 */
int pins_values(const struct plan *plan, struct arena *arena, struct values *values,
		struct error *err);

/* Whether the `length` bytes at `text` are a SHA-256 checksum as the catalog writes it: 64 lower-case digits in hex. */
bool pins_is_checksum(const char *text, size_t length);

#endif
