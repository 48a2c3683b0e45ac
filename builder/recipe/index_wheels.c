/* SPDX-License-Identifier: MIT */
#include "builder/recipe/index_wheels.h"

#include "builder/recipe/pins.h"
#include "core/str.h"

#include <string.h>

/* "cp311" of "3.11" */
static const char *index_wheel_tag(const char *series, struct arena *arena)
{
	const char *dot = strchr(series, '.');

	return dot ? arena_printf(arena, "cp%.*s%s", (int)(dot - series), series, dot + 1) : "";
}

static bool index_wheel_is(const struct table *table, size_t row, const struct choice *choice,
			   const char *build, const char *tag)
{
	return strcmp(table_cell(table, row, "version"), choice->version) == 0 &&
	       strcmp(table_cell(table, row, "component"), choice->name) == 0 &&
	       strcmp(table_cell(table, row, "built"), build) == 0 &&
	       strcmp(table_cell(table, row, "flavor"), tag) == 0;
}

static int index_wheel_set(const struct table *table, const struct choice *choice, const char *tag,
			   struct arena *arena, struct values *values, struct error *err)
{
	const char *build = values_get(values, arena_printf(arena, "%s.build", choice->name));

	for (size_t row = 0; row < table->row_count; row++) {
		const char *sum = table_cell(table, row, "sha256");

		if (!index_wheel_is(table, row, choice, build, tag))
			continue;
		if (!pins_is_checksum(sum, strlen(sum)))
			return error_set(err, ERROR_USAGE, "%s:%zu: '%s' is no SHA-256 checksum",
					 table->paths[row], table->lines[row], sum);
		values_set(values, arena_printf(arena, "%s.wheel_sum", choice->name), sum);
		return 0;
	}
	return 0;
}

int index_wheels_values(const struct plan *plan, const struct catalog *catalog, struct arena *arena,
			struct values *values, struct error *err)
{
	const struct table *table = catalog_table(catalog, "index_wheel");
	const char *tag = index_wheel_tag(values_get(values, "python.series"), arena);

	for (size_t i = 0; table && i < plan->count; i++)
		if (*plan->choices[i].index &&
		    index_wheel_set(table, &plan->choices[i], tag, arena, values, err) < 0)
			return -1;
	return 0;
}
