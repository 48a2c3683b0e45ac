/* SPDX-License-Identifier: MIT */
/*
 * index_wheels.h - the checksum of a wheel that an index of its own has, and PyPI has not: recipes/catalog/index_wheel.csv.
 *
 * A row is for a component, its version, the build ("cu126", "cpu": the end of the index) and the Python ("cp311").
 */
#ifndef BUILDER_RECIPE_INDEX_WHEELS_H
#define BUILDER_RECIPE_INDEX_WHEELS_H

#include "builder/recipe/parts.h"
#include "resolver/catalog.h"
#include "resolver/resolve.h"

/*
 * Sets COMPONENT.wheel_sum, 64 digits, where there is a row for the plan's Python; needs python.series and COMPONENT.build.
 * ERROR_USAGE names the file and line of a row whose checksum is none: it stands in a Dockerfile.
 */
int index_wheels_values(const struct plan *plan, const struct catalog *catalog, struct arena *arena,
			struct values *values, struct error *err);

#endif
