/* SPDX-License-Identifier: MIT */
#include "builder/recipe/pins.h"

#include "core/file.h"
#include "core/str.h"
#include "plan/version.h"

#include <ctype.h>
#include <string.h>

#define PINS_CEILING_BYTES (256 * KIB)
#define GLIBC "# glibc>="

/*
 * The requirement as a file's name: what is no letter, digit, dot or underscore becomes one dash.
 */
static const char *file_name(const char *pip, const char *series, struct arena *arena)
{
	_cleanup_(str_release) struct str name = STR_INIT;

	for (; *pip; pip++)
		if (isalnum((unsigned char)*pip) || *pip == '.' || *pip == '_')
			str_add_char(&name, *pip);
		else if (name.length && name.text[name.length - 1] != '-')
			str_add_char(&name, '-');
	return arena_printf(arena, "recipes/pins/%s-py%s.txt", name.text, series);
}

/* Whether the wheels run on that C library. */
static bool runs_on(const char *text, const char *glibc, struct arena *arena)
{
	const char *needs = strstr(text, GLIBC);

	if (!needs || !*glibc)
		return true;
	needs += strlen(GLIBC);
	return version_compare(arena_strndup(arena, needs, strcspn(needs, "\n")), glibc) <= 0;
}

static const char *quoted_lines(const char *text, struct arena *arena)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	while (*text) {
		int length = (int)strcspn(text, "\n");

		if (length && *text != '#')
			str_addf(&out, "%s      '%.*s'", out.length ? " \\\n" : "", length, text);
		text += length + (text[length] == '\n');
	}
	return arena_strdup(arena, out.text);
}

/* Sets NAME to the lines of a file, if there is one and its wheels run. */
static int set_pins(struct values *values, const char *name, const char *file, struct arena *arena,
		    struct error *err)
{
	struct error ignored = {0};
	const char *path;
	char *text;

	if (share_path(arena, file, &path, &ignored) < 0)
		return 0;
	if (file_read(path, PINS_CEILING_BYTES, arena, &text, NULL, err) < 0)
		return -1;
	if (runs_on(text, values_get(values, "glibc.version"), arena))
		values_set(values, name, quoted_lines(text, arena));
	return 0;
}

/* The one wheel of the plan that brings others along, or NULL. What is built from an archive is
 * none. */
static const struct choice *only_framework(const struct plan *plan)
{
	const struct choice *framework = NULL;

	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *c = &plan->choices[i];

		if (!*c->pip || *c->sha256)
			continue;
		if (framework)
			return NULL;
		framework = c;
	}
	return framework;
}

/* What another index has is another build, unless its row says that PyPI's is the same. */
static bool is_on_pypi(const struct choice *framework, const struct values *values,
		       struct arena *arena)
{
	return !*framework->index ||
	       *values_get(values, arena_printf(arena, "%s.on_pypi", framework->name));
}

int pins_values(const struct plan *plan, struct arena *arena, struct values *values,
		struct error *err)
{
	const struct choice *framework = only_framework(plan);
	const char *series = values_get(values, "python.series");

	for (size_t i = 0; i < plan->count; i++) {
		const char *name = plan->choices[i].name;

		if (set_pins(values, arena_printf(arena, "%s.needs.pins", name),
			     file_name(arena_printf(arena, "%s-needs", name), series, arena), arena,
			     err) < 0)
			return -1;
	}
	return framework && is_on_pypi(framework, values, arena)
		       ? set_pins(values, arena_printf(arena, "%s.pins", framework->name),
				  file_name(framework->pip, series, arena), arena, err)
		       : 0;
}
