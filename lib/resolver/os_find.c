/* SPDX-License-Identifier: MIT */
/* Finds an operating system's row by the name that people use. */
#include "resolver/os_find.h"

#include "resolver/request.h"

#include "core/str.h"

#include <ctype.h>
#include <string.h>

/* "rhel" of "rhel8". */
static size_t os_find_distribution(const char *os)
{
	return strcspn(os, "0123456789");
}

bool os_is_distribution(const struct model *model, const char *os)
{
	const struct table *table = catalog_file(model->catalog, "os");
	size_t length = os_find_distribution(os);

	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *name = table_cell(table, row, "version");

		if (os_find_distribution(name) == length && strncmp(name, os, length) == 0)
			return true;
	}
	return model->domains[COMPONENT_OS].count == 0;
}

const char *os_nearest(const struct model *model, const char *os)
{
	const struct table *table = catalog_table(model->catalog, "os");
	size_t length = os_find_distribution(os);
	const char *found = NULL;

	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *name = table_cell(table, row, "version");

		if (!list_has(table_cell(table, row, "aka"), os, length) ||
		    strcmp(name + os_find_distribution(name), os + length) != 0)
			continue;
		found = found ? arena_printf(model->arena, "%s' or '%s", found, name) : name;
	}
	return found;
}

/* The distribution that the catalog knows by another name, by the column `alias`; or NULL. */
static const char *os_find_alias(const struct model *model, const char *name, size_t length)
{
	const struct table *table = catalog_table(model->catalog, "os");

	for (size_t row = 0; table && row < table->row_count && length; row++)
		if (list_has(table_cell(table, row, "alias"), name, length))
			return table_cell(table, row, "distribution");
	return NULL;
}

const char *os_tidy(const struct model *model, const char *words)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];
	char *tidy = arena_strdup(model->arena, words), *to = tidy;
	const char *name, *alias;
	size_t length;

	/* a user's own row may have any name */
	for (size_t i = 0; i < domain->count; i++)
		if (strpbrk(domain->values[i].version, "-_:") &&
		    strstr(words, domain->values[i].version))
			return words;
	for (; *words; words++)
		if (!strchr("-_: ", *words))
			*to++ = (char)tolower((unsigned char)*words);
	*to = '\0';
	name = tidy + strspn(tidy, "=<>!~");
	length = os_find_distribution(name);
	alias = os_find_alias(model, name, length);
	return alias ? arena_printf(model->arena, "%.*s%s%s", (int)(name - tidy), tidy, alias,
				    name + length)
		     : tidy;
}

const char *os_of_host(const struct catalog *catalog, const char *os)
{
	const struct table *table = catalog_table(catalog, "os");

	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *name = table_cell(table, row, "version");
		const char *id = table_cell(table, row, "id");
		const char *release = name + os_find_distribution(name);
		const char *rest = os + strlen(id);

		if (!*id || !*release || !starts_with(os, id) || !starts_with(rest, release))
			continue;
		rest += strlen(release);
		if (!*rest || *rest == '.') /* a release of it: rhel 9.4 is of ubi9 */
			return name;
	}
	return NULL;
}
