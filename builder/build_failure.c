/* SPDX-License-Identifier: MIT */
#include "builder/build_failure.h"

#include "core/file.h"
#include "core/foreign.h"
#include "core/str.h"
#include "core/table.h"

#include <string.h>

#define SAID_BYTES 700

struct build_failure build_failure_find(const char *output, struct arena *arena)
{
	struct build_failure none = {"", "", "", false};
	struct error ignored = {0};
	struct table table;
	const char *path;

	if (share_path(arena, "recipes/build-failures.csv", &path, &ignored) < 0 ||
	    table_load(path, arena, &table, &ignored) < 0)
		return none;
	for (size_t i = 0; i < table.row_count; i++) {
		const char *text = table_cell(&table, i, "text");

		if (*text && strstr(output, text))
			return (struct build_failure){
				.text = text,
				.reason = table_cell(&table, i, "reason"),
				.advice = table_cell(&table, i, "advice"),
				.again = strcmp(table_cell(&table, i, "again"), "yes") == 0,
			};
	}
	return none;
}

/* The last line that holds the text. */
static const char *line_with(const char *output, const char *text, struct arena *arena)
{
	const char *found = NULL, *start;

	for (const char *p = output; (p = strstr(p, text)); p++)
		found = p;
	if (!found)
		return output;
	start = found;
	while (start > output && start[-1] != '\n')
		start--;
	return arena_strndup(arena, start, strcspn(start, "\n"));
}

int build_failure_set(const char *what, const char *output, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(str_release) struct str said = STR_INIT;
	struct build_failure failure = build_failure_find(output, &arena);

	foreign_add_plain(&said, *failure.text ? line_with(output, failure.text, &arena) : output);
	str_trim(&said);
	str_one_line(&said, SAID_BYTES);
	error_set(err, ERROR_FAILED, "%s: %s%s%s", what, failure.reason,
		  *failure.reason ? ": " : "", said.text);
	return *failure.advice ? error_advise(err, "%s", failure.advice) : -1;
}
