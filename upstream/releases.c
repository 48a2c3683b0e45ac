/* SPDX-License-Identifier: MIT */
#include "upstream/releases.h"

#include "core/json.h"
#include "core/str.h"
#include "plan/version.h"
#include "upstream/limits.h"

#include <stdio.h>
#include <string.h>

#define RELEASES_SCHEMA 1

static int releases_parse(const char *text, size_t length, const char *what, const char *member,
			  cJSON **json, const cJSON **list, struct error *err)
{
	if (json_parse(text, length, "the list of releases", json, err) < 0)
		return error_wrap(err, "%.300s", what);
	*list = json_member(*json, member);
	if (json_int(*json, "schema_version", 0) != RELEASES_SCHEMA || !cJSON_IsArray(*list) ||
	    cJSON_GetArraySize(*list) > RELEASES_MAX)
		return error_set(
			err, ERROR_FAILED,
			"%.300s is no list of releases of schema %d with \"%s\"; a newer ringup may read it",
			what, RELEASES_SCHEMA, member);
	return 0;
}

int releases_read_index(const char *text, size_t length, const char *what, struct arena *arena,
			const char *const **series, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct words words = WORDS_INIT(arena);
	const cJSON *list, *item;

	if (releases_parse(text, length, what, "series", &json, &list, err) < 0)
		return -1;
	cJSON_ArrayForEach (item, list) {
		const char *name = json_text(item, "series", arena);

		if (name && package_is_release(name))
			words_add(&words, name);
	}
	*series = words_list(&words);
	return 0;
}

/* --- one series ----------------------------------------------------------------------------- */

static const char *release_sha256(const cJSON *file, struct arena *arena)
{
	const char *hex = json_text(file, "sha256", arena);

	return hex && strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64 ? hex : "";
}

static void release_take_file(const cJSON *file, struct arena *arena, struct release *release)
{
	const char *name = json_text(file, "name", arena), *url = json_text(file, "url", arena);
	const char *stem = arena_printf(arena, "openmpi-%s.tar", release->version);

	if (!name || !url || !web_url_is_fine(url) || strpbrk(url, ",\"") ||
	    !starts_with(name, stem))
		return;
	if (strcmp(name + strlen(stem), ".bz2") == 0) {
		release->bz2 = url;
		release->bz2_sha256 = release_sha256(file, arena);
	} else if (strcmp(name + strlen(stem), ".gz") == 0) {
		release->gz = url;
		release->gz_sha256 = release_sha256(file, arena);
	}
}

static bool release_take(const cJSON *item, struct arena *arena, struct release *release)
{
	const char *date = json_text(item, "release_date", arena);
	const cJSON *file;

	*release = (struct release){.version = json_text(item, "version", arena),
				    .bz2 = "",
				    .bz2_sha256 = "",
				    .gz = "",
				    .gz_sha256 = ""};
	if (!release->version || !package_is_release(release->version) ||
	    json_bool(item, "prerelease", false))
		return false;
	if (date && strlen(date) > 10 && strspn(date, "0123456789-") >= 10 && date[4] == '-')
		snprintf(release->month, sizeof(release->month), "%.7s", date);
	cJSON_ArrayForEach (file, json_member(item, "files"))
		release_take_file(file, arena, release);
	return true;
}

int releases_read_series(const char *text, size_t length, const char *what, struct arena *arena,
			 struct release_list *list, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *details, *item;

	*list = (struct release_list){.count = 0};
	if (releases_parse(text, length, what, "release_details", &json, &details, err) < 0)
		return -1;
	list->releases =
		ARENA_ARRAY(arena, (size_t)cJSON_GetArraySize(details) + 1, struct release);
	cJSON_ArrayForEach (item, details)
		if (release_take(item, arena, &list->releases[list->count]))
			list->count++;
	return 0;
}

/* --- openmpi.csv ---------------------------------------------------------------------------- */

static void release_offer(struct refresh *refresh, const struct release *release, const char *url)
{
	static const char *const copied[] = {"soname", "cuda_note", "pmix", NULL};
	struct fact_list keys = FACT_LIST_INIT(refresh->arena);
	struct fact_list facts = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {.table = "openmpi",
				    .version = release->version,
				    .keys = keys.list,
				    .facts = facts.list,
				    .copied = copied,
				    .note = "",
				    .copies_note = true,
				    .source = "openmpi-releases",
				    .url = url};

	fact_add(&keys, FACT_NEW, "kind", "source");
	fact_add(&facts, FACT_FILLS, "released", release->month);
	fact_add(&facts, FACT_FILLS, "download", release->bz2);
	fact_add(&facts, FACT_COMPARED, "sha256", release->bz2_sha256);
	fact_add(&facts, FACT_FILLS, "download_gz", release->gz);
	fact_add(&facts, FACT_COMPARED, "sha256_gz", release->gz_sha256);
	rows_source(&refresh->rows, "openmpi-releases", "Open MPI: list of releases",
		    "https://" OPENMPI_SITE "/releases.json");
	rows_offer(&refresh->rows, &offer);
}

static int releases_take_series(struct refresh *refresh, const struct web_request *request,
				const char *oldest, struct error *err)
{
	struct release_list list;

	if (request->err.kind != ERROR_NONE) {
		*err = request->err;
		return -1;
	}
	if (!request->found)
		return error_set(err, ERROR_FAILED, "%.300s is not there (HTTP 404)", request->url);
	if (releases_read_series(request->body.text, request->body.length, request->url,
				 refresh->arena, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.count; i++)
		if (version_compare(list.releases[i].version, oldest) >= 0 && *list.releases[i].bz2)
			release_offer(refresh, &list.releases[i], request->url);
	return 0;
}

/* The series' documents are asked for side by side. */
static int releases_ask_series(struct refresh *refresh, const char *const *series,
			       const char *oldest, struct error *err)
{
	struct web_request *requests;
	struct error first = {0};
	size_t count = 0;
	int rc;

	while (series[count])
		count++;
	requests = ARENA_ARRAY(refresh->arena, count + 1, struct web_request);
	for (size_t i = 0; i < count; i++)
		requests[i] = (struct web_request){
			.url = refresh_url(refresh,
					   arena_printf(refresh->arena,
							OPENMPI_SITE "/v%s/downloads/releases.json",
							series[i])),
			.bytes_max = RELEASES_BYTES_MAX};
	rc = web_fetch(&refresh->web, requests, count, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		struct error one = {0};

		releases_take_series(refresh, &requests[i], oldest, &one);
		refresh_keep_error(&first, &one);
	}
	web_release(requests, count);
	if (first.kind != ERROR_NONE)
		*err = first;
	return rc < 0 || first.kind != ERROR_NONE ? -1 : 0;
}

int refresh_openmpi(struct refresh *refresh, struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "openmpi");
	const struct fact kind[] = {{"kind", "source", FACT_NEW}, {NULL, NULL, FACT_NEW}};
	const char *oldest = table ? rows_oldest(table, kind) : NULL;
	struct web_request index = {.url = refresh_url(refresh, OPENMPI_SITE "/releases.json"),
				    .bytes_max = RELEASES_BYTES_MAX};
	const char *const *series = NULL;
	int rc = -1;

	if (web_fetch(&refresh->web, &index, 1, err) < 0)
		rc = -1;
	else if (index.err.kind != ERROR_NONE)
		*err = index.err;
	else if (!index.found)
		error_set(err, ERROR_FAILED, "%.300s is not there (HTTP 404); name another mirror",
			  index.url);
	else
		rc = releases_read_index(index.body.text, index.body.length, index.url,
					 refresh->arena, &series, err);
	web_release(&index, 1);
	return rc < 0 || !oldest ? rc : releases_ask_series(refresh, series, oldest, err);
}
