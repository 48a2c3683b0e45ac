/* SPDX-License-Identifier: MIT */
#include "resolver/catalog.h"

#include "core/file.h"
#include "core/str.h"
#include "plan/arch.h"

#include <string.h>

static const char *const needed_columns[] = {
	"version", "os", "run_packages", "build_packages", "note", "certainty", "source", NULL};

const char *const catalog_key_columns[] = {"version",	 "os",	     "kind",	  "built", "pip",
					   "index",	 "id",	     "component", "from",  "flavor",
					   "cuda_least", "branches", "brands",	  "name",  NULL};

/*
 * Tables of no component: their rows have an id or a name (sources.csv, verified.csv,
 * package_manager.csv).
 */
static bool has_own_columns(const struct table *table)
{
	return strcmp(table->columns[0], "id") == 0 || strcmp(table->columns[0], "name") == 0;
}

static struct table *find_table(struct catalog *catalog, const char *name)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (strcmp(catalog->names[i], name) == 0)
			return &catalog->tables[i];
	return NULL;
}

static int check_columns(const struct table *table, struct error *err)
{
	for (const char *const *column = needed_columns; *column; column++)
		if (!has_own_columns(table) && !table_has_column(table, *column))
			return error_set(err, ERROR_USAGE, "%s:%zu: the column '%s' is missing",
					 table->path, table->header_line, *column);
	return 0;
}

/* Checks a user's own rows: a column that is silently dropped would be a lost fact. */
static int check_overlay(const struct table *known, const struct table *more, struct error *err)
{
	const char *first = known->columns[0];

	for (size_t i = 0; i < more->column_count; i++) {
		const char *near;

		if (table_has_column(known, more->columns[i]))
			continue;
		near = nearest_word(more->columns[i], known->columns);
		return error_set(err, ERROR_USAGE, "%s:%zu: there is no column '%s'%s%s%s",
				 more->path, more->header_line, more->columns[i],
				 near ? "; did you mean '" : "", near ? near : "",
				 near ? "'?" : "");
	}
	if (!table_has_column(more, first))
		return error_set(err, ERROR_USAGE, "%s:%zu: the column '%s' is missing", more->path,
				 more->header_line, first);
	return 0;
}

/* Adds the file's rows to the catalog, and its name and digest to `all`. */
static int load_one(const char *folder, const char *file, struct digest *all, struct arena *arena,
		    struct catalog *catalog, struct error *err)
{
	const char *path = arena_printf(arena, "%s/%s", folder, file);
	const char *name = arena_strndup(arena, file, strlen(file) - strlen(".csv"));
	struct table *known = find_table(catalog, name), table;
	char one[DIGEST_TEXT_BYTES], *text;
	size_t length;

	if (file_read(path, FILE_CEILING_BYTES, arena, &text, &length, err) < 0)
		return error_of_input(err);
	digest_of(text, length, one);
	digest_add(all, file, strlen(file) + 1);
	digest_add(all, one, strlen(one) + 1);
	if (!known && catalog->count == CATALOG_COMPONENTS_MAX)
		return error_set(err, ERROR_USAGE, "%s holds more than %d components", folder,
				 CATALOG_COMPONENTS_MAX);
	if (table_parse(path, text, length, arena, &table, err) < 0)
		return -1;
	if (known) {
		if (check_overlay(known, &table, err) < 0)
			return -1;
		table_merge(known, &table, catalog_key_columns, arena);
		return 0;
	}
	catalog->tables[catalog->count] = table;
	catalog->names[catalog->count++] = name;
	return check_columns(&table, err);
}

static int load_folder(const char *folder, struct digest *all, struct arena *arena,
		       struct catalog *catalog, struct error *err)
{
	const char **files;

	if (folder_list(folder, ".csv", arena, &files, err) < 0)
		return -1;
	for (; *files; files++) {
		if ((*files)[0] == '.') /* an editor's file */
			continue;
		if (load_one(folder, *files, all, arena, catalog, err) < 0)
			return -1;
	}
	return 0;
}

/* The folders up to and including the first whole catalog. */
static size_t take_path(const char *const *folders, struct arena *arena,
			const char *taken[static CATALOG_FOLDERS_MAX])
{
	size_t count = 0;

	for (; *folders && count < CATALOG_FOLDERS_MAX; folders++) {
		if (!file_exists(*folders))
			continue;
		taken[count++] = *folders;
		if (file_exists(arena_printf(arena, "%s/os.csv", *folders)))
			break;
	}
	return count;
}

int catalog_load_path(const char *const *folders, struct arena *arena, struct catalog *catalog,
		      struct error *err)
{
	_cleanup_(digest_release) struct digest all = {0};
	const char *taken[CATALOG_FOLDERS_MAX];
	size_t count = take_path(folders, arena, taken);

	if (!count)
		return error_set(err, ERROR_FAILED, "%s: there is no such catalog folder",
				 *folders ? *folders : "(none)");
	*catalog = (struct catalog){.folder = taken[count - 1], .has_overlay = count > 1};
	digest_init(&all);
	while (count--)
		if (load_folder(taken[count], &all, arena, catalog, err) < 0)
			return -1;
	digest_finish(&all, catalog->revision);
	return 0;
}

int catalog_load(const char *folder, struct arena *arena, struct catalog *catalog,
		 struct error *err)
{
	return catalog_load_path(WORDS(folder), arena, catalog, err);
}

const struct catalog *catalog_for(const struct catalog *catalog, const char *arch,
				  struct arena *arena)
{
	struct catalog *own;

	if (!arch || strcmp(arch, ARCH_DEFAULT) == 0)
		return catalog;
	own = ARENA_NEW(arena, struct catalog);
	*own = *catalog;
	own->arch = arch;
	return own;
}

const char *catalog_arch_of(const char *table, struct arena *arena, const char **name)
{
	const char *dot = strrchr(table, '.');
	const char *arch = dot ? arch_by_name(dot + 1) : NULL;

	if (arch)
		*name = arena_strndup(arena, table, (size_t)(dot - table));
	return arch;
}

/* Whether `name` is that of the component's own table for the processor: "torch.aarch64". */
static bool catalog_is_own(const char *name, const char *component, const char *arch)
{
	size_t length = strlen(component);

	return strncmp(name, component, length) == 0 && name[length] == '.' &&
	       strcmp(name + length + 1, arch) == 0;
}

const struct table *catalog_file(const struct catalog *catalog, const char *name)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (strcmp(catalog->names[i], name) == 0)
			return &catalog->tables[i];
	return NULL;
}

const struct table *catalog_table(const struct catalog *catalog, const char *component)
{
	const struct table *shared = NULL;

	for (size_t i = 0; i < catalog->count; i++) {
		if (catalog->arch && catalog_is_own(catalog->names[i], component, catalog->arch))
			return &catalog->tables[i];
		if (strcmp(catalog->names[i], component) == 0)
			shared = &catalog->tables[i];
	}
	/* the addresses of NVIDIA's repositories are those of one processor */
	return catalog->arch && strcmp(component, "os") == 0 ? NULL : shared;
}

bool catalog_refers_to(const char *column, const char *name)
{
	size_t length = strlen(column), suffix = strlen(name);

	return ends_with(column, name) && (length == suffix || column[length - suffix - 1] == '_');
}

const char *catalog_named(const struct catalog *catalog, const char *name, const char *row_name,
			  const char *column)
{
	const struct table *table = catalog_table(catalog, name);

	for (size_t row = 0; table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, table->columns[0]), row_name) == 0)
			return table_cell(table, row, column);
	return "";
}

char catalog_exact_sign(const struct catalog *catalog, const char *manager)
{
	const char *exact = catalog_named(catalog, "package_manager", manager, "exact");

	return starts_with(exact, "NAME=") ? '=' : '-';
}
