/* SPDX-License-Identifier: MIT */
#include "upstream/tags.h"

#include "core/str.h"
#include "plan/version.h"
#include "upstream/limits.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool tag_is_os(const char *text)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz", digits[] = "0123456789.";
	size_t name = strspn(text, letters), number;

	if (strncmp(text, "amzn2", 5) == 0)
		name = 4;
	number = strspn(text + name, digits);
	return name && number && !text[name + number] && strlen(text) < NAME_BYTES_MAX;
}

bool tag_parse(const char *text, struct arena *arena, struct image_tag *tag)
{
	static const char *const flavors[] = {"base", "runtime", "devel"};
	const char *parts[5];
	char *rest = arena_strndup(arena, text, NAME_BYTES_MAX);
	size_t count = 0;

	for (char *part = rest; part; count++) {
		char *dash = strchr(part, '-');

		if (dash)
			*dash++ = '\0';
		if (count == 4)
			return false;
		parts[count] = part;
		part = dash;
	}
	if (count < 3 || !package_is_release(parts[0]) || !tag_is_os(parts[count - 1]))
		return false;
	*tag = (struct image_tag){parts[0], "", "", parts[count - 1]};
	if (count == 4 && strncmp(parts[1], "cudnn", 5) == 0)
		tag->cudnn = parts[1][5] ? parts[1] + 5 : "yes";
	else if (count == 4)
		return false;
	if (*tag->cudnn && strcmp(tag->cudnn, "yes") != 0 &&
	    (strlen(tag->cudnn) > 2 || strspn(tag->cudnn, "0123456789") != strlen(tag->cudnn)))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(flavors); i++)
		if (strcmp(parts[count - 2], flavors[i]) == 0)
			tag->flavor = flavors[i];
	return *tag->flavor != '\0';
}

/* --- image.csv ------------------------------------------------------------------------------ */

static bool tag_is_known_os(const struct refresh *refresh, const char *os)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "os");

	return table && rows_find(table, os, NULL) >= 0;
}

/* cuDNN's major: of the tag, or of CUDA: tags of CUDA 12.4 and newer say only `cudnn`, and hold cuDNN 9. */
static const char *tag_cudnn(const struct image_tag *tag, struct arena *arena)
{
	if (!*tag->cudnn)
		return "";
	if (strcmp(tag->cudnn, "yes") != 0)
		return arena_printf(arena, "==%s.*", tag->cudnn);
	return version_compare(tag->cuda, "12.4") >= 0 ? "==9.*" : "";
}

static void tag_offer(struct refresh *refresh, const struct table *table, const char *text,
		      const struct image_tag *tag)
{
	ssize_t row = rows_find(table, text, NULL);
	const char *status = row < 0 ? "" : table_cell(table, (size_t)row, "status");
	struct fact_list keys = FACT_LIST_INIT(refresh->arena);
	struct fact_list facts = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {.table = "image",
				    .version = text,
				    .keys = keys.list,
				    .facts = facts.list,
				    .note = arena_printf(refresh->arena,
							 "seen on Docker Hub in %.7s",
							 refresh->rows.today),
				    .source = "docker-hub-cuda",
				    .url = "https://hub.docker.com/r/nvidia/cuda/tags"};

	fact_add(&keys, FACT_NEW, "os", tag->os);
	fact_add(&facts, FACT_NEW, "cuda", tag->cuda);
	fact_add(&facts, FACT_NEW, "flavor", tag->flavor);
	fact_add(&facts, FACT_NEW, "cudnn", tag_cudnn(tag, refresh->arena));
	/* a tag that is past its end of life is listed too */
	fact_add(&facts, strcmp(status, "eol") == 0 ? FACT_NEW : FACT_COMPARED, "status", "listed");
	rows_offer(&refresh->rows, &offer);
}

/* A row that says `listed`, and the list lacks it. */
static void tag_offer_gone(struct refresh *refresh, const char *text, const char *os)
{
	const struct fact keys[] = {{"os", os, FACT_NEW}, {NULL, NULL, FACT_NEW}};
	const struct fact facts[] = {{"status", "gone", FACT_COMPARED}, {NULL, NULL, FACT_NEW}};

	rows_offer(&refresh->rows, &(struct offer){.table = "image",
						   .version = text,
						   .keys = keys,
						   .facts = facts,
						   .note = "",
						   .source = "docker-hub-cuda",
						   .url = "https://hub.docker.com/r/nvidia/cuda/"
							  "tags"});
}

static int tag_by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Rows of an earlier look at the list have gone when the list of today lacks them. */
static void tags_find_gone(struct refresh *refresh, const struct table *table,
			   const struct words *tags)
{
	for (size_t row = 0; row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");
		const char *status = table_cell(table, row, "status");

		if (strcmp(status, "listed") != 0 && strcmp(status, "eol") != 0)
			continue;
		if (!bsearch(&version, tags->list, tags->count, sizeof(*tags->list), tag_by_name))
			tag_offer_gone(refresh, version, table_cell(table, row, "os"));
	}
}

int refresh_images(struct refresh *refresh, struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "image");
	const struct fact listed[] = {{"status", "listed", FACT_NEW}, {NULL, NULL, FACT_NEW}};
	struct words tags = WORDS_INIT(refresh->arena);
	ssize_t oldest = -1;

	if (refresh->list_tags(refresh->list_tags_arg, &tags, err) < 0)
		return -1;
	for (size_t row = 0; row < table->row_count; row++)
		if (strcmp(table_cell(table, row, "status"), listed[0].cell) == 0 &&
		    (oldest < 0 || version_compare(table_cell(table, row, "cuda"),
						   table_cell(table, (size_t)oldest, "cuda")) < 0))
			oldest = (ssize_t)row;
	if (!tags.count || oldest < 0)
		return 0;
	qsort(tags.list, tags.count, sizeof(*tags.list), tag_by_name);
	rows_source(&refresh->rows, "docker-hub-cuda", "Docker Hub: tags of nvidia/cuda",
		    "https://hub.docker.com/r/nvidia/cuda/tags");
	for (size_t i = 0; i < tags.count; i++) {
		struct image_tag tag;

		if (tag_parse(tags.list[i], refresh->arena, &tag) &&
		    tag_is_known_os(refresh, tag.os) &&
		    version_compare(tag.cuda, table_cell(table, (size_t)oldest, "cuda")) >= 0)
			tag_offer(refresh, table, tags.list[i], &tag);
	}
	tags_find_gone(refresh, table, &tags);
	return 0;
}
