/* SPDX-License-Identifier: MIT */
#include "upstream/redist.h"

#include "core/json.h"
#include "core/str.h"
#include "core/words.h"
#include "plan/version.h"
#include "upstream/limits.h"

#include <stdlib.h>
#include <string.h>

#define REDIST_OLDEST "9"

/* A path of the archive that cannot leave the folder or stand badly in a cell. */
static bool redist_path_is_fine(const char *path)
{
	return starts_with(path, "cudnn/linux-x86_64/") && !strstr(path, "..") &&
	       strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/") ==
		       strlen(path) &&
	       strlen(path) < 200;
}

static bool redist_take(const cJSON *item, const char *version, struct arena *arena,
			struct redist_archive *archive)
{
	const char *build =
		item->string && starts_with(item->string, "cuda") ? item->string + 4 : "";

	*archive = (struct redist_archive){.version = version,
					   .built = arena_strdup(arena, build),
					   .path = json_text(item, "relative_path", arena),
					   .sha256 = json_text(item, "sha256", arena)};
	return *build && strlen(build) <= 2 && strspn(build, "0123456789") == strlen(build) &&
	       archive->path && redist_path_is_fine(archive->path) && archive->sha256 &&
	       strlen(archive->sha256) == 64 && strspn(archive->sha256, "0123456789abcdef") == 64;
}

int redist_read(const char *text, size_t length, const char *what, struct arena *arena,
		struct redist_list *list, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *cudnn, *builds, *item;
	const char *version;

	*list = (struct redist_list){.count = 0};
	if (json_parse(text, length, "the document of archives", &json, err) < 0)
		return error_wrap(err, "%.300s", what);
	cudnn = json_member(json, "cudnn");
	version = cudnn ? json_text(cudnn, "version", arena) : NULL;
	builds = cudnn ? json_member(cudnn, "linux-x86_64") : NULL;
	if (!version || !package_is_release(version) || !cJSON_IsObject(builds) ||
	    cJSON_GetArraySize(builds) > REDIST_BUILDS_MAX)
		return error_set(
			err, ERROR_FAILED,
			"%.300s has no \"cudnn\" with a version and archives of linux-x86_64",
			what);
	list->archives =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(builds) + 1, struct redist_archive);
	cJSON_ArrayForEach (item, builds)
		if (redist_take(item, version, arena, &list->archives[list->count]))
			list->count++;
	return 0;
}

/* --- cudnn.csv ------------------------------------------------------------------------------ */

static void redist_offer(struct refresh *refresh, const struct redist_archive *archive,
			 const char *url)
{
	static const char *const copied[] = {"sm", NULL};
	struct fact_list keys = FACT_LIST_INIT(refresh->arena);
	struct fact_list facts = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {.table = "cudnn",
				    .version = archive->version,
				    .keys = keys.list,
				    .facts = facts.list,
				    .copied = copied,
				    .note = "NVIDIA's archive",
				    .source = "nvidia-redist",
				    .url = url};

	fact_add(&keys, FACT_NEW, "kind", "tar");
	fact_add(&keys, FACT_NEW, "built", archive->built);
	fact_addf(&facts, FACT_NEW, archive->built, "cuda", ">=%s;<%ld", archive->built,
		  strtol(archive->built, NULL, 10) + 1);
	fact_addf(&facts, FACT_FILLS, archive->path, "download", "https://" REDIST_CUDNN "/%s",
		  archive->path);
	fact_add(&facts, FACT_COMPARED, "sha256", archive->sha256);
	rows_source(&refresh->rows, "nvidia-redist", "NVIDIA: documents of cuDNN's archives",
		    "https://" REDIST_CUDNN "/");
	rows_offer(&refresh->rows, &offer);
}

/* "9.21.0" of each version of the table, once; NULL-terminated. */
static const char *const *redist_wanted(const struct refresh *refresh, const struct table *table)
{
	struct words wanted = WORDS_INIT(refresh->arena);

	for (size_t row = 0; row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version"), *end = version;
		const char *name;
		bool known = false;

		for (int dots = 0; *end && (*end != '.' || ++dots < 3); end++)
			;
		name = arena_strndup(refresh->arena, version, (size_t)(end - version));
		for (size_t i = 0; i < wanted.count; i++)
			known |= strcmp(wanted.list[i], name) == 0;
		if (!known && *end == '.' && version_compare(version, REDIST_OLDEST) >= 0)
			words_add(&wanted, name);
	}
	return words_list(&wanted);
}

static int redist_take_answer(struct refresh *refresh, const struct web_request *request,
			      struct error *err)
{
	struct redist_list list;

	if (request->err.kind != ERROR_NONE) {
		*err = request->err;
		return -1;
	}
	if (!request->found)
		return 0;
	if (redist_read(request->body.text, request->body.length, request->url, refresh->arena,
			&list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.count; i++)
		redist_offer(refresh, &list.archives[i], request->url);
	return 0;
}

int refresh_redist(struct refresh *refresh, struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "cudnn");
	const struct fact kind[] = {{"kind", "tar", FACT_NEW}, {NULL, NULL, FACT_NEW}};
	const char *const *wanted;
	struct web_request *requests;
	struct error first = {0};
	size_t count = 0;
	int rc;

	if (!table || !rows_oldest(table, kind))
		return 0;
	for (wanted = redist_wanted(refresh, table); wanted[count];)
		count++;
	requests = ARENA_ARRAY(refresh->arena, count + 1, struct web_request);
	for (size_t i = 0; i < count; i++)
		requests[i] = (struct web_request){
			.url = refresh_url(refresh, arena_printf(refresh->arena,
								 REDIST_CUDNN "/redistrib_%s.json",
								 wanted[i])),
			.bytes_max = RELEASES_BYTES_MAX};
	rc = web_fetch(&refresh->web, requests, count, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		struct error one = {0};

		redist_take_answer(refresh, &requests[i], &one);
		refresh_keep_error(&first, &one);
	}
	web_release(requests, count);
	if (first.kind != ERROR_NONE)
		*err = first;
	return rc < 0 || first.kind != ERROR_NONE ? -1 : 0;
}
