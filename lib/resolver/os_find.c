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

/* Whether both are the same but for dots: "ubuntu2204", as NVIDIA's repositories have it, is ubuntu22.04. */
static bool os_is_but_for_dots(const char *name, const char *os)
{
	for (;; name++, os++) {
		name += strspn(name, ".");
		os += strspn(os, ".");
		if (*name != *os || !*name)
			return *name == *os;
	}
}

/* What people call a release otherwise: "jammy", "ubuntu2204", "ubuntu22.04lts". NULL: nothing of the catalog. */
static const char *os_find_release(const struct model *model, const char *name)
{
	const struct table *table = catalog_table(model->catalog, "os");
	size_t length = strlen(name);

	if (ends_with(name, "lts"))
		name = arena_strndup(model->arena, name, length - strlen("lts"));
	for (size_t row = 0; table && row < table->row_count && *name; row++)
		if (strcmp(table_cell(table, row, "codename"), name) == 0 ||
		    os_is_but_for_dots(name, table_cell(table, row, "version")))
			return table_cell(table, row, "version");
	return NULL;
}

/* The catalog's name of what a tidy name means; the name itself where it has none. */
static const char *os_catalog_name(const struct model *model, const char *name)
{
	const char *release = os_find_release(model, name);
	size_t length = os_find_distribution(name);
	const char *alias = release ? NULL : os_find_alias(model, name, length);

	if (release)
		return release;
	return alias ? arena_printf(model->arena, "%s%s", alias, name + length) : name;
}

static bool os_has_row(const struct model *model, const char *name)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];

	for (size_t i = 0; i < domain->count; i++)
		if (strcmp(domain->values[i].version, name) == 0)
			return true;
	return false;
}

/* "rockylinux9" of "rocky9.4", "ubuntu22.04" of "ubuntu22.04.5": a point release is its release, as a host's is (os_of_host). */
static const char *os_without_point(const struct model *model, const char *name)
{
	char *cut = arena_strdup(model->arena, name), *point;
	const char *found = os_catalog_name(model, name), *shorter = found;

	while (!os_has_row(model, shorter) && (point = strrchr(cut, '.'))) {
		*point = '\0';
		shorter = os_catalog_name(model, cut);
	}
	return os_has_row(model, shorter) ? shorter : found;
}

const char *os_tidy(const struct model *model, const char *words)
{
	const struct domain *domain = &model->domains[COMPONENT_OS];
	char *tidy = arena_strdup(model->arena, words), *to = tidy;
	const char *name;

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
	return arena_printf(model->arena, "%.*s%s", (int)(name - tidy), tidy,
			    os_without_point(model, name));
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

/* "docker.io/library/ubuntu" of "ubuntu:22.04", and "22.04"; the tag is empty where there is none. */
static void os_split_image(const char *name, struct arena *arena, const char **repository,
			   const char **tag)
{
	size_t length = strcspn(name, "@");
	const char *slash = memrchr(name, '/', length), *colon;
	bool has_host = slash && strcspn(name, ".:") < strcspn(name, "/");

	colon = memchr(slash ? slash : name, ':', (size_t)(name + length - (slash ? slash : name)));
	*tag = colon ? arena_strndup(arena, colon + 1, (size_t)(name + length - colon - 1)) : "";
	*repository = arena_printf(arena, "%s%s%.*s", has_host ? "" : "docker.io/",
				   slash ? "" : "library/",
				   (int)((colon ? colon : name + length) - name), name);
}

/* Whether the tag is of the release: "22.04", "12.5-slim", "jammy-20240227", "centos7.9.2009". */
static bool os_tag_is_of(const struct table *table, size_t row, const char *tag)
{
	const char *version = table_cell(table, row, "version");
	const char *const names[] = {version, version + os_find_distribution(version),
				     table_cell(table, row, "codename")};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (*names[i] && starts_with(tag, names[i]) && strchr(".-", tag[strlen(names[i])]))
			return true;
	return false;
}

/* Whether the repository holds releases of that row's OS. *only: the release is in its name ("ubi9/ubi"), so no tag says it. */
static bool os_repository_is_of(const struct table *table, size_t row, const char *repository,
				bool *only, struct arena *arena)
{
	const char *own, *ignored, *alias = table_cell(table, row, "alias");
	const char *last = strrchr(repository, '/') + 1;

	os_split_image(table_cell(table, row, "image"), arena, &own, &ignored);
	*only = strcmp(own, repository) == 0 &&
		strstr(own, table_cell(table, row, "version")) != NULL;
	return strcmp(own, repository) == 0 ||
	       (starts_with(repository, "docker.io/library/") &&
		(strcmp(last, table_cell(table, row, "distribution")) == 0 ||
		 list_has(alias, last, strlen(last))));
}

const char *os_of_image(const struct catalog *catalog, const char *name, struct arena *arena)
{
	const struct table *table = catalog_table(catalog, "os");
	const char *repository, *tag, *dash;
	bool only;

	os_split_image(name, arena, &repository, &tag);
	dash = strrchr(tag, '-');
	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");

		if (ends_with(repository, "/nvidia/cuda")
			    ? dash && strcmp(dash + 1, version) == 0
			    : os_repository_is_of(table, row, repository, &only, arena) &&
				      (only || os_tag_is_of(table, row, tag)))
			return version;
	}
	return NULL;
}
