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

void os_tidy(const struct model *model, char *words)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];
	char *to = words;

	/* a user's own row may have any name */
	for (size_t i = 0; i < domain->count; i++)
		if (strpbrk(domain->values[i].version, "-_:") &&
		    strstr(words, domain->values[i].version))
			return;
	for (; *words; words++)
		if (!strchr("-_: ", *words))
			*to++ = (char)tolower((unsigned char)*words);
	*to = '\0';
}
