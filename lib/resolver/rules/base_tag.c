/* SPDX-License-Identifier: MIT */
#include "resolver/rules/base_tag.h"

#include "core/str.h"
#include "resolver/allow.h"
#include "resolver/conditions.h"
#include "plan/version.h"

#include <string.h>

#define REPOSITORY "nvidia/cuda"

/* The tag of a name in NVIDIA's repository of Docker Hub, "latest" when it has none; else NULL. */
static const char *cuda_tag(const char *name)
{
	static const char *const hosts[] = {"docker.io/", "index.docker.io/"};

	for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
		if (starts_with(name, hosts[i]))
			name += strlen(hosts[i]);
	if (!starts_with(name, REPOSITORY) || strchr(name, '@'))
		return NULL;
	name += strlen(REPOSITORY);
	return *name == ':' && name[1] ? name + 1 : *name ? NULL : "latest";
}

/* "11.0" of "11.0-base-ubuntu20.04", "" of "latest". */
static const char *cuda_of(const char *tag, struct arena *arena)
{
	return arena_strndup(arena, tag, strspn(tag, "0123456789."));
}

const char *base_tag_cuda(const char *name, struct arena *arena)
{
	const char *tag = cuda_tag(name);

	return tag ? cuda_of(tag, arena) : "";
}

static int row_of(const struct table *images, const char *tag)
{
	for (size_t row = 0; images && row < images->row_count; row++)
		if (strcmp(table_cell(images, row, "version"), tag) == 0)
			return (int)row;
	return -1;
}

static bool can_be_pulled(const char *status)
{
	return strcmp(status, "listed") == 0 || strcmp(status, "eol") == 0;
}

/* The newest patch release of the same CUDA, flavour and OS that can be pulled, or NULL. */
static const char *nearest_tag(const struct table *images, const char *tag, struct arena *arena)
{
	const char *cuda = cuda_of(tag, arena), *rest = tag + strlen(cuda);
	const char *dot = strchr(cuda, '.'), *series, *newest = NULL, *found = NULL;

	if (!dot)
		return NULL;
	series = arena_strndup(arena, cuda, (size_t)(dot - cuda) + 1 + strcspn(dot + 1, "."));
	for (size_t row = 0; images && row < images->row_count; row++) {
		const char *other = table_cell(images, row, "version");
		const char *version = cuda_of(other, arena);

		if (!can_be_pulled(table_cell(images, row, "status")) ||
		    strcmp(other + strlen(version), rest) != 0 ||
		    !version_in_series(version, series) ||
		    (newest && version_compare(version, newest) <= 0))
			continue;
		newest = version;
		found = other;
	}
	return found;
}

/* --- conflicts.csv: "image==latest", "image & cuda<11" -------------------------------------- */

static bool base_tag_condition_holds(const struct condition *condition, const char *cuda,
				     const char *tag)
{
	if (strcmp(condition->name, "image") == 0)
		return !*condition->versions || (starts_with(condition->versions, "==") &&
						 strcmp(condition->versions + 2, tag) == 0);
	return strcmp(condition->name, "cuda") == 0 && *cuda && !condition->mistake &&
	       (!condition->needs || needs_admit(condition->needs, cuda));
}

static bool row_holds(const char *when, const char *tag, struct arena *arena)
{
	const char *cuda = cuda_of(tag, arena);
	struct conditions conditions;

	if (!starts_with(when, "image"))
		return false;
	conditions_read(when, arena, &conditions);
	for (size_t i = 0; i < conditions.count; i++)
		if (!base_tag_condition_holds(&conditions.list[i], cuda, tag))
			return false;
	return true;
}

/* Takes the text of the first row that concerns the tag. */
static bool base_tag_find_known(const struct catalog *catalog, const char *tag, struct arena *arena,
				struct base_tag *out)
{
	const struct table *table = catalog_table(catalog, "conflicts");

	for (size_t row = 0; table && row < table->row_count; row++) {
		if (strcmp(table_cell(table, row, "effect"), "refuse") != 0 ||
		    !row_holds(table_cell(table, row, "when"), tag, arena))
			continue;
		out->because = arena_printf(arena, "%s; %s", table_cell(table, row, "symptom"),
					    table_cell(table, row, "fix"));
		out->source = table_cell(table, row, "source");
		out->id = table_cell(table, row, "id");
		return true;
	}
	return false;
}

/* ------------------------------------------------------------------------------------------- */

static void judge_row(const struct catalog *catalog, size_t row, const char *tag,
		      struct arena *arena, struct base_tag *out)
{
	const struct table *images = catalog_table(catalog, "image");
	const char *status = table_cell(images, row, "status");

	out->source = table_cell(images, row, "source");
	out->refused = !can_be_pulled(status);
	if (strcmp(status, "eol") == 0)
		out->because =
			"the tag is past its end of life: NVIDIA deletes such tags six months later; keep a copy in your registry";
	else if (out->refused && !base_tag_find_known(catalog, tag, arena, out))
		out->because = strcmp(status, "gone") == 0
				       ? "manifest unknown: NVIDIA deleted the tag"
				       : "manifest unknown: of this tag only a Dockerfile is known";
}

void base_tag_check(const struct catalog *catalog, const char *name, struct arena *arena,
		    struct base_tag *out)
{
	const struct table *images = catalog_table(catalog, "image");
	const char *tag = cuda_tag(name), *near;
	int row;

	*out = (struct base_tag){.source = "", .id = allow_rule_ids[RULE_BASE_IMAGE]};
	if (!tag)
		return;
	row = row_of(images, tag);
	near = nearest_tag(images, tag, arena);
	if (row >= 0) {
		judge_row(catalog, (size_t)row, tag, arena, out);
	} else if (base_tag_find_known(catalog, tag, arena, out)) {
		out->refused = true;
	} else if (near) {
		out->refused = true;
		out->because = "manifest unknown: NVIDIA has no such tag";
		out->source = table_cell(images, (size_t)row_of(images, near), "source");
	}
	if (out->refused && near)
		out->instead = arena_printf(arena, "%s:%s", REPOSITORY, near);
}
