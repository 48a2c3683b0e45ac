/* SPDX-License-Identifier: MIT */
/* Checks every row of a catalog: the installed one (`make lint` does that) or a person's own. */
#include "resolver/matrix/matrix_check.h"

#include "resolver/matrix/matrix.h"

#include "core/str.h"
#include "plan/version.h"
#include "resolver/conditions.h"

#include <stdlib.h>
#include <string.h>

struct check {
	const struct catalog *catalog;
	struct arena *arena;
	struct matrix_report *report;
	const char *name; /* of the table */
	const struct table *table;
	size_t row;
};

static void _printf_(2, 3) matrix_check_find(struct check *c, const char *format, ...)
{
	struct matrix_report *report = c->report;
	_cleanup_(str_release) struct str text = STR_INIT;
	va_list args;

	va_start(args, format);
	str_vaddf(&text, format, args);
	va_end(args);
	if (report->count == report->capacity) {
		struct matrix_finding *old = report->findings;

		report->capacity = report->capacity ? report->capacity * 2 : 16;
		report->findings = ARENA_ARRAY(c->arena, report->capacity, struct matrix_finding);
		if (old)
			memcpy(report->findings, old, report->count * sizeof(*old));
	}
	report->findings[report->count++] = (struct matrix_finding){
		.file = c->table->paths[c->row],
		.line = c->table->lines[c->row],
		.text = arena_strndup(c->arena, text.text, text.length),
	};
}

static const char *cell(const struct check *c, const char *column)
{
	return table_cell(c->table, c->row, column);
}

static bool is_listed(const struct check *c, const char *name, const char *column, const char *word)
{
	const struct table *table = catalog_table(c->catalog, name);

	for (size_t row = 0; table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, column), word) == 0)
			return true;
	return false;
}

/* --- cells ---------------------------------------------------------------------------------- */

/*
 * Whether the table has versions. Products and links have names, and facts about container runtimes
 * hold for "any" version.
 */
static bool has_versions(const struct check *c)
{
	static const char *const others[] = {"gpu", "gpu_link", "link", "toolkit"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (strcmp(c->name, others[i]) == 0)
			return false;
	return true;
}

static void check_version(struct check *c)
{
	const char *version = cell(c, "version");
	struct error ignored = {0};
	struct requirement req;

	if (!table_has_column(c->table, "version"))
		return;
	if (!*version)
		matrix_check_find(c, "no version");
	else if (has_versions(c) &&
		 requirement_parse(arena_printf(c->arena, "version==%s", version), c->arena, &req,
				   &ignored) < 0)
		matrix_check_find(c, "'%s' is no version", version);
}

static bool must_be_needs(const struct check *c, const char *column)
{
	return component_by_name(c->name) != COMPONENT_NONE && strcmp(column, "os") != 0 &&
	       (component_by_name(column) != COMPONENT_NONE || ends_with(column, "_tested"));
}

static void check_needs(struct check *c)
{
	for (size_t i = 0; i < c->table->column_count; i++) {
		const char *column = c->table->columns[i], *text = cell(c, column);
		struct error why = {0};
		struct needs needs;

		if ((matrix_cell_is_needs(text) || (*text && must_be_needs(c, column))) &&
		    needs_parse(text, c->arena, &needs, &why) < 0)
			matrix_check_find(c, "%s: %s", column, why.text);
	}
}

static void check_sources(struct check *c)
{
	const char *at = cell(c, "source");

	if (!table_has_column(c->table, "source"))
		return;
	if (!*at)
		matrix_check_find(c, "no source");
	while (*at) {
		size_t length = strcspn(at, ";");
		const char *id = arena_strndup(c->arena, at, length);

		if (!is_listed(c, "sources", "id", id))
			matrix_check_find(c, "source '%s' is not in sources.csv", id);
		at += length + (at[length] == ';');
	}
}

static void check_certainty(struct check *c)
{
	const char *certainty = cell(c, "certainty");

	if (strcmp(certainty, "documented") != 0 && strcmp(certainty, "inferred") != 0 &&
	    strcmp(certainty, "unsourced") != 0)
		matrix_check_find(c, "certainty '%s' is none of documented, inferred, unsourced",
				  certainty);
}

/* NVIDIA has images of OSes that are not in os.csv; then the tag must end with the OS's name. */
static void check_os(struct check *c)
{
	const char *os = cell(c, "os");

	if (*os && !is_listed(c, "os", "version", os) &&
	    !(strcmp(c->name, "image") == 0 && ends_with(cell(c, "version"), os)))
		matrix_check_find(c, "os '%s' is not in os.csv", os);
}

/* --- conflicts.csv -------------------------------------------------------------------------- */

/* Resolve ignores a row with a condition that it cannot read, such as "openmpi=4.1.*". */
static void check_condition(struct check *c, const struct condition *condition)
{
	if (!*condition->name)
		matrix_check_find(c, "when: '%s' begins with no name", condition->text);
	else if (condition->is_absent && condition->component == COMPONENT_NONE)
		matrix_check_find(c, "when: '%s' is about no component", condition->text);
	else if (condition->component != COMPONENT_NONE && condition->mistake)
		matrix_check_find(c, "when: %s", condition->mistake);
}

static void check_conflict(struct check *c)
{
	const char *effect = cell(c, "effect");
	struct conditions conditions;

	if (!list_has("refuse;risk;workaround;warn", effect, strlen(effect)))
		matrix_check_find(c, "effect '%s' is none of refuse, risk, workaround, warn",
				  effect);
	conditions_read(cell(c, "when"), c->arena, &conditions);
	if (!conditions.count)
		matrix_check_find(c, "no condition in `when`");
	for (size_t i = 0; i < conditions.count; i++)
		check_condition(c, &conditions.list[i]);
}

/* --- tables whose rows have names ------------------------------------------------------------ */

/* os.csv's `key` and `ml_key` name rows of key.csv, `package_manager` of package_manager.csv. */
static void check_names(struct check *c)
{
	for (size_t t = 0; t < c->catalog->count; t++) {
		const char *name = c->catalog->names[t];

		if (strcmp(c->catalog->tables[t].columns[0], "name") != 0)
			continue;
		for (size_t i = 0; i < c->table->column_count; i++) {
			const char *column = c->table->columns[i], *text = cell(c, column);

			if (*text && catalog_refers_to(column, name) &&
			    !is_listed(c, name, "name", text))
				matrix_check_find(c, "%s '%s' is not in %s.csv", column, text,
						  name);
		}
	}
}

static void check_package_manager(struct check *c)
{
	const char *exact = cell(c, "exact"), *list = cell(c, "list");

	if (!*cell(c, "name") || !*cell(c, "kind") || !*cell(c, "install"))
		matrix_check_find(c, "no name, kind or install command");
	if (strcmp(exact, "NAME=VERSION") != 0 && strcmp(exact, "NAME-VERSION") != 0)
		matrix_check_find(c, "exact '%s' is neither NAME=VERSION nor NAME-VERSION", exact);
	if (strcmp(list, "apt") != 0 && strcmp(list, "yum") != 0)
		matrix_check_find(c, "list '%s' is neither apt nor yum of cluster.yaml", list);
}

/* A key that nothing is known of is refused, and the refusal says what to ask for. */
static void check_key(struct check *c)
{
	const char *fingerprint = cell(c, "fingerprint"), *sha256 = cell(c, "sha256");

	if (*sha256 && (strlen(sha256) != 64 || strspn(sha256, "0123456789abcdef") != 64))
		matrix_check_find(c, "'%s' is no checksum of 64 digits", sha256);
	if (*fingerprint
		    ? strlen(fingerprint) != 40 || strspn(fingerprint, "0123456789ABCDEF") != 40
		    : !*sha256 && !*cell(c, "instead"))
		matrix_check_find(c, "'%s' is no fingerprint of 40 digits", fingerprint);
}

static void check_companion(struct check *c)
{
	static const char *const columns[] = {"versions", "python"};
	const char *kind = cell(c, "kind");

	if (component_by_name(cell(c, "component")) == COMPONENT_NONE)
		matrix_check_find(c, "'%s' is no component", cell(c, "component"));
	if (strcmp(kind, "with") != 0 && strcmp(kind, "needs") != 0)
		matrix_check_find(c, "kind '%s' is neither with nor needs", kind);
	if (!*cell(c, "words"))
		matrix_check_find(c, "no words");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		const char *text = cell(c, columns[i]);
		struct error why = {0};
		struct needs needs;

		if (*text && !matrix_cell_is_needs(text) &&
		    needs_parse(text, c->arena, &needs, &why) < 0)
			matrix_check_find(c, "%s: %s", columns[i], why.text);
	}
}

/* --- the same fact twice -------------------------------------------------------------------- */

struct key {
	const char *text;
	size_t row;
};

/* The text that identifies a row. */
static const char *matrix_check_key_text(const struct check *c, size_t row)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (const char *const *column = catalog_key_columns; *column; column++) {
		str_add(&text, table_cell(c->table, row, *column));
		str_add_char(&text, ',');
	}
	return arena_strndup(c->arena, text.text, text.length);
}

static int compare_keys(const void *left, const void *right)
{
	const struct key *a = left, *b = right;
	int order = strcmp(a->text, b->text);

	return order ? order : (a->row > b->row) - (a->row < b->row);
}

/* For each row the line of the first row with the same fact, or 0. */
static size_t *find_twins(struct check *c)
{
	size_t count = c->table->row_count;
	struct key *keys = ARENA_ARRAY(c->arena, count + 1, struct key);
	size_t *twins = ARENA_ARRAY(c->arena, count + 1, size_t);

	for (size_t row = 0; row < count; row++)
		keys[row] = (struct key){matrix_check_key_text(c, row), row};
	qsort(keys, count, sizeof(*keys), compare_keys);
	for (size_t i = 1; i < count; i++)
		if (strcmp(keys[i - 1].text, keys[i].text) == 0)
			twins[keys[i].row] = c->table->lines[keys[i - 1].row];
	return twins;
}

/* ------------------------------------------------------------------------------------------- */

static void check_row(struct check *c)
{
	static const struct {
		const char *table;
		void (*check)(struct check *c);
	} own[] = {{"conflicts", check_conflict},
		   {"companion", check_companion},
		   {"key", check_key},
		   {"os", check_names},
		   {"package_manager", check_package_manager}};

	check_version(c);
	check_needs(c);
	check_sources(c);
	check_certainty(c);
	if (strcmp(c->name, "os") != 0)
		check_os(c);
	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (strcmp(c->name, own[i].table) == 0)
			own[i].check(c);
}

/* Rows of one table may come from several folders. */
static size_t count_files(const struct table *table)
{
	const char *seen[CATALOG_FOLDERS_MAX] = {table->path};
	size_t count = 1;

	for (size_t row = 0; row < table->row_count; row++) {
		size_t i = 0;

		while (i < count && seen[i] != table->paths[row])
			i++;
		if (i == count && count < ARRAY_LEN(seen))
			seen[count++] = table->paths[row];
	}
	return count;
}

void matrix_check(const struct catalog *catalog, struct arena *arena, struct matrix_report *report)
{
	*report = (struct matrix_report){0};
	for (size_t i = 0; i < catalog->count; i++) {
		const char *name = catalog->names[i];
		const char *arch = catalog_arch_of(name, arena, &name);
		struct check c = {.catalog = catalog_for(catalog, arch, arena),
				  .arena = arena,
				  .report = report,
				  .name = name,
				  .table = &catalog->tables[i]};
		const size_t *twins = find_twins(&c);

		report->files += count_files(c.table);
		report->rows += c.table->row_count;
		for (c.row = 0; c.row < c.table->row_count; c.row++) {
			check_row(&c);
			if (twins[c.row])
				matrix_check_find(&c, "the same fact as line %zu", twins[c.row]);
		}
	}
}
