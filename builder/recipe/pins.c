/* SPDX-License-Identifier: MIT */
#include "builder/recipe/pins.h"

#include "core/file.h"
#include "core/str.h"
#include "core/table.h"
#include "plan/component.h"
#include "plan/version.h"

#include <string.h>

#define FOLDER "recipes/wheels/"
#define PACKAGES_OF_SET_MAX 512
#define SHA256_DIGITS 64

#define LETTERS_AND_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

struct pins {
	struct table sets, packages; /* packages: loaded with the first set; columns NULL before */
	const char *series, *glibc;  /* of the plan: "3.10", "2.35" */
	const char *arch;	     /* of the plan; NULL: x86_64 */
	struct arena *arena;
};

/* sets.csv, or sets.aarch64.csv: wheels have other checksums on another processor. */
static int pins_load_table(struct pins *pins, const char *name, struct table *table,
			   struct error *err)
{
	const char *file = arena_printf(pins->arena, FOLDER "%s%s%s.csv", name,
					pins->arch ? "." : "", pins->arch ? pins->arch : "");
	const char *path;

	return share_path(pins->arena, file, &path, err) < 0
		       ? -1
		       : table_load(path, pins->arena, table, err);
}

/* --- one package ---------------------------------------------------------------------------- */

static bool is_made_of(const char *text, const char *characters)
{
	return *text && !text[strspn(text, characters)];
}

bool pins_is_checksum(const char *text, size_t length)
{
	return length == SHA256_DIGITS && strspn(text, "0123456789abcdef") >= length;
}

/* "HEX;HEX" as pip's options; false for what is no list of checksums. */
static bool add_hashes(struct str *out, const char *sums)
{
	do {
		size_t length = strcspn(sums, ";");

		if (!pins_is_checksum(sums, length))
			return false;
		str_addf(out, " --hash=sha256:%.*s", (int)length, sums);
		sums += length;
	} while (*sums++);
	return true;
}

/* The row as one quoted word, which a shell and pip read as they shall. */
static int package_line(const struct table *packages, size_t row, struct arena *arena,
			const char **line, struct error *err)
{
	const char *name = table_cell(packages, row, "name");
	const char *version = table_cell(packages, row, "version");
	_cleanup_(str_release) struct str out = STR_INIT;

	str_addf(&out, "      '%s==%s", name, version);
	if (!is_made_of(name, LETTERS_AND_DIGITS "-._") ||
	    !is_made_of(version, LETTERS_AND_DIGITS "-._+!") ||
	    !add_hashes(&out, table_cell(packages, row, "sha256")))
		return error_set(err, ERROR_USAGE,
				 "%s:%zu: a package needs a name, a version and SHA-256 checksums",
				 packages->path, packages->lines[row]);
	str_add_char(&out, '\'');
	*line = arena_strdup(arena, out.text);
	return 0;
}

/* --- one set -------------------------------------------------------------------------------- */

struct reference_word {
	const char *text,
		*line; /* "numpy==1.23.5:2"; its package as text, NULL until it is found */
	size_t length;
};

/* "NAME==VERSION:BUILD" is the row's, or "NAME==VERSION" of a row without a build. */
static bool refers_to(const struct reference_word *word, const char *name, const char *version,
		      const char *build)
{
	size_t name_length = strlen(name), version_length = strlen(version);
	const char *at = word->text;

	if (strncmp(at, name, name_length) != 0 || strncmp(at + name_length, "==", 2) != 0)
		return false;
	at += name_length + 2;
	if (strncmp(at, version, version_length) != 0)
		return false;
	at += version_length;
	if (*build && *at++ != ':')
		return false;
	return strncmp(at, build, strlen(build)) == 0 &&
	       at + strlen(build) == word->text + word->length;
}

/* One pass over the table: a set has some 40 words, the table 1600 rows. */
static int find_packages(const struct pins *pins, struct reference_word *words, size_t count,
			 struct error *err)
{
	const struct table *packages = &pins->packages;
	int names = table_column(packages, "name"), versions = table_column(packages, "version"),
	    builds = table_column(packages, "build");

	for (size_t row = 0; row < packages->row_count; row++) {
		const char *name = table_at(packages, row, names);

		for (size_t i = 0; i < count; i++) {
			if (words[i].text[0] != name[0] ||
			    !refers_to(&words[i], name, table_at(packages, row, versions),
				       table_at(packages, row, builds)))
				continue;
			if (package_line(packages, row, pins->arena, &words[i].line, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int cut_references(const struct pins *pins, size_t set, struct reference_word *words,
			  size_t *count, struct error *err)
{
	const char *at = table_cell(&pins->sets, set, "packages");

	for (*count = 0; *at; (*count)++) {
		size_t length = strcspn(at, ";");

		if (*count == PACKAGES_OF_SET_MAX)
			return error_set(err, ERROR_USAGE, "%s:%zu: more than %d packages",
					 pins->sets.path, pins->sets.lines[set],
					 PACKAGES_OF_SET_MAX);
		words[*count] = (struct reference_word){.text = at, .length = length};
		at += length + (at[length] == ';');
	}
	return 0;
}

/* The lines of all packages of a set, in its order. */
static int set_lines(struct pins *pins, size_t set, const char **lines, struct error *err)
{
	struct reference_word words[PACKAGES_OF_SET_MAX];
	_cleanup_(str_release) struct str out = STR_INIT;
	size_t count;

	if ((!pins->packages.columns &&
	     pins_load_table(pins, "packages", &pins->packages, err) < 0) ||
	    cut_references(pins, set, words, &count, err) < 0 ||
	    find_packages(pins, words, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (!words[i].line)
			return error_set(err, ERROR_USAGE, "%s:%zu: '%.*s' is not in %s",
					 pins->sets.path, pins->sets.lines[set],
					 (int)words[i].length, words[i].text, pins->packages.path);
		str_addf(&out, "%s%s", i ? " \\\n" : "", words[i].line);
	}
	*lines = arena_strdup(pins->arena, out.text);
	return 0;
}

/* Sets NAME to the set that is for these words, if there is one and its wheels run. */
static int set_pins(struct pins *pins, struct values *values, const char *name, const char *wheel,
		    struct error *err)
{
	const struct table *sets = &pins->sets;
	int wheels = table_column(sets, "for"), series = table_column(sets, "python");
	const char *lines;

	for (size_t row = 0; row < sets->row_count; row++) {
		const char *glibc;

		if (strcmp(table_at(sets, row, wheels), wheel) != 0 ||
		    strcmp(table_at(sets, row, series), pins->series) != 0)
			continue;
		glibc = table_cell(sets, row, "glibc");
		if (*glibc && *pins->glibc && version_compare(glibc, pins->glibc) > 0)
			return 0;
		if (set_lines(pins, row, &lines, err) < 0)
			return -1;
		values_set(values, name, lines);
		return 0;
	}
	return 0;
}

/* --- the plan ------------------------------------------------------------------------------- */

/*
 * The one framework of the plan, whose wheel brings others along, or NULL. What is built from an
 * archive brings none, and what stands beside torch, or in the place of a library of its wheel, is no framework.
 */
static const struct choice *only_framework(const struct plan *plan)
{
	const struct choice *framework = NULL;

	for (size_t i = 0; i < plan->count; i++) {
		const struct choice *c = &plan->choices[i];

		enum component component = component_by_name(c->name);

		if (!*c->pip || *c->sha256 || *c->wheel ||
		    (component != COMPONENT_NONE &&
		     (COMPONENT_BIT(component) & COMPONENTS_BESIDE_TORCH)))
			continue;
		if (framework)
			return NULL;
		framework = c;
	}
	return framework;
}

int pins_values(const struct plan *plan, struct arena *arena, struct values *values,
		struct error *err)
{
	const struct choice *framework = only_framework(plan);
	struct pins pins = {.series = values_get(values, "python.series"),
			    .glibc = values_get(values, "glibc.version"),
			    .arch = plan->arch,
			    .arena = arena};

	if (pins_load_table(&pins, "sets", &pins.sets, err) < 0)
		return -1;
	for (size_t i = 0; i < plan->count; i++) {
		const char *name = plan->choices[i].name;

		if (set_pins(&pins, values, arena_printf(arena, "%s.needs.pins", name),
			     arena_printf(arena, "%s-needs", name), err) < 0)
			return -1;
	}
	return framework && !*framework->index /* what another index has is another build */
		       ? set_pins(&pins, values, arena_printf(arena, "%s.pins", framework->name),
				  framework->pip, err)
		       : 0;
}
