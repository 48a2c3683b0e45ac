/* SPDX-License-Identifier: MIT */
#include "plan/catalog.h"

#include "core/file.h"

#include <string.h>

static const char *const needed_columns[] = {
	"version", "os", "run_packages", "build_packages", "note", "certainty", "source", NULL};

static int load_one(const char *folder, const char *file, struct arena *arena,
		    struct catalog *catalog, struct error *err)
{
	const char *path = arena_printf(arena, "%s/%s", folder, file);
	struct table *table = &catalog->tables[catalog->count];

	if (catalog->count == CATALOG_COMPONENTS_MAX)
		return error_set(err, ERROR_USAGE, "%s holds more than %d components", folder,
				 CATALOG_COMPONENTS_MAX);
	if (table_load(path, arena, table, err) < 0)
		return -1;
	for (const char *const *column = needed_columns;
	     *column && strcmp(file, "conflicts.csv") != 0; column++)
		if (!table_has_column(table, *column))
			return error_set(err, ERROR_USAGE, "%s:%zu: the column '%s' is missing",
					 path, table->header_line, *column);
	catalog->names[catalog->count++] = arena_strndup(arena, file, strlen(file) - 4);
	return 0;
}

int catalog_load(const char *folder, struct arena *arena, struct catalog *catalog,
		 struct error *err)
{
	const char **files;
	struct digest all;

	*catalog = (struct catalog){.folder = folder};
	if (folder_list(folder, ".csv", arena, &files, err) < 0)
		return -1;
	digest_init(&all);
	for (; *files; files++) {
		char one[DIGEST_TEXT_BYTES];

		if ((*files)[0] == '.') /* an editor's */
			continue;
		if (digest_of_file(arena_printf(arena, "%s/%s", folder, *files), one, err) < 0)
			break;
		digest_add(&all, *files, strlen(*files) + 1);
		digest_add(&all, one, sizeof(one));
		if (strcmp(*files, "sources.csv") != 0 &&
		    load_one(folder, *files, arena, catalog, err) < 0)
			break;
	}
	digest_finish(&all, catalog->revision);
	return *files ? -1 : 0;
}

const struct table *catalog_table(const struct catalog *catalog, const char *component)
{
	for (size_t i = 0; i < catalog->count; i++)
		if (strcmp(catalog->names[i], component) == 0)
			return &catalog->tables[i];
	return NULL;
}
