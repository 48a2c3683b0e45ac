/* SPDX-License-Identifier: MIT */
/* An operating system's row by the name that people give it. */
#include "resolver/request.h"

#include "core/str.h"

#include <ctype.h>
#include <string.h>

/* What people have, and what the catalog has of the same family. */
static const struct {
	const char *name, *kin[2];
} families[] = {
	{"rhel", {"ubi", "rockylinux"}},
	{"redhat", {"ubi", "rockylinux"}},
	{"centosstream", {"rockylinux", "almalinux"}},
	{"scientificlinux", {"centos", "ubi"}},
	{"rocky", {"rockylinux", NULL}},
	{"alma", {"almalinux", NULL}},
	{"ol", {"oraclelinux", NULL}},
	{"oracle", {"oraclelinux", NULL}},
	{"amazonlinux", {"amzn", NULL}},
};

/* "rhel" of "rhel8". */
static size_t os_find_distribution(const char *os)
{
	return strcspn(os, "0123456789");
}

static bool is_row(const struct model *model, const char *os)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];

	for (size_t i = 0; i < domain->count; i++)
		if (strcmp(domain->values[i].version, os) == 0)
			return true;
	return false;
}

bool os_is_distribution(const struct model *model, const char *os)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];
	size_t length = os_find_distribution(os);

	for (size_t i = 0; i < domain->count; i++)
		if (os_find_distribution(domain->values[i].version) == length &&
		    strncmp(domain->values[i].version, os, length) == 0)
			return true;
	return domain->count == 0;
}

const char *os_nearest(const struct model *model, const char *os)
{
	size_t length = os_find_distribution(os);
	const char *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		for (size_t k = 0; k < ARRAY_LEN(families[i].kin) && families[i].kin[k]; k++) {
			const char *name =
				arena_printf(model->arena, "%s%s", families[i].kin[k], os + length);

			if (strlen(families[i].name) != length ||
			    strncmp(families[i].name, os, length) != 0 || !is_row(model, name))
				continue;
			found = found ? arena_printf(model->arena, "%s' or '%s", found, name)
				      : name;
		}
	return found;
}

void os_tidy(const struct model *model, char *words)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];
	char *to = words;

	/* a row of somebody's own may have a name that is not plain */
	for (size_t i = 0; i < domain->count; i++)
		if (strpbrk(domain->values[i].version, "-_:") &&
		    strstr(words, domain->values[i].version))
			return;
	for (; *words; words++)
		if (!strchr("-_: ", *words))
			*to++ = (char)tolower((unsigned char)*words);
	*to = '\0';
}
