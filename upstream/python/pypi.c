/* SPDX-License-Identifier: MIT */
#include "upstream/python/pypi.h"

#include "core/json.h"
#include "plan/version.h"
#include "registry-client/http/url.h"
#include "upstream/limits.h"
#include "upstream/python/simple_html.h"
#include "upstream/python/wheel_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The JSON form where the index has one (PEP 691), a web page elsewhere. */
#define PYPI_FORMS "application/vnd.pypi.simple.v1+json, text/html;q=0.1"
#define PYPI_MINORS_MAX 64 /* of Python 3 */

/* --- file names ----------------------------------------------------------------------------- */

static bool pypi_word(const char *text)
{
	size_t length = strlen(text);

	if (!length || length >= NAME_BYTES_MAX)
		return false;
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			return false;
	return true;
}

/* NAME-VERSION(-BUILD)?-PYTHONS-ABI-PLATFORMS.whl */
static bool pypi_split_wheel(struct pypi_file *file, struct arena *arena)
{
	const char *parts[6];
	char *rest = arena_strndup(arena, file->filename, strlen(file->filename) - strlen(".whl"));
	size_t count = 0;

	for (char *part = rest; part; count++) {
		char *dash = strchr(part, '-');

		if (dash)
			*dash++ = '\0';
		if (count == ARRAY_LEN(parts))
			return false;
		parts[count] = part;
		part = dash;
	}
	if (count < 5)
		return false;
	file->version = parts[1];
	file->pythons = parts[count - 3];
	file->abi = parts[count - 2];
	file->platforms = parts[count - 1];
	return true;
}

/* NAME-VERSION.tar.gz; the name may hold dashes too. */
static bool pypi_split_source(struct pypi_file *file, struct arena *arena)
{
	const char *end = NULL, *dash;

	if (ends_with(file->filename, ".tar.gz"))
		end = file->filename + strlen(file->filename) - strlen(".tar.gz");
	else if (ends_with(file->filename, ".zip"))
		end = file->filename + strlen(file->filename) - strlen(".zip");
	if (!end)
		return false;
	for (dash = end; dash > file->filename && *dash != '-'; dash--)
		;
	if (*dash != '-' || dash >= end)
		return false;
	file->version = arena_strndup(arena, dash + 1, (size_t)(end - dash - 1));
	file->pythons = file->abi = file->platforms = "";
	return true;
}

/* The version "2.13.0+cu126" becomes "2.13.0" of the build "cu126". */
static void pypi_split_local(struct pypi_file *file, struct arena *arena)
{
	const char *plus = strchr(file->version, '+');

	file->build = plus ? plus + 1 : "";
	if (plus)
		file->version = arena_strndup(arena, file->version, (size_t)(plus - file->version));
}

/* --- a page --------------------------------------------------------------------------------- */

static const char *pypi_sha256(const cJSON *item, struct arena *arena)
{
	const char *hex = json_text(json_member(item, "hashes"), "sha256", arena);

	return hex && strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64 ? hex : "";
}

static void pypi_take_month(const cJSON *item, struct arena *arena, char month[static 8])
{
	const char *time = json_text(item, "upload-time", arena);

	month[0] = '\0';
	if (time && strlen(time) > 10 && strspn(time, "0123456789") == 4 && time[4] == '-' &&
	    isdigit((unsigned char)time[5]) && isdigit((unsigned char)time[6]) && time[7] == '-')
		snprintf(month, 8, "%.7s", time);
}

/* PEP 714: `core-metadata` is the name, `data-dist-info-metadata` an old mistake; true or hashes. */
static bool pypi_says_metadata(const cJSON *item)
{
	const cJSON *said = json_member(item, "core-metadata");

	if (!said)
		said = json_member(item, "dist-info-metadata");
	return cJSON_IsTrue(said) || cJSON_IsObject(said);
}

static const char *pypi_requires_python(const cJSON *item, struct arena *arena)
{
	const char *text = json_text(item, "requires-python", arena);

	if (!text || strlen(text) >= NAME_BYTES_MAX ||
	    strspn(text, "0123456789.*=!<>~, ") != strlen(text))
		return "";
	return text;
}

static bool pypi_take_file(const cJSON *item, const char *page_url, struct arena *arena,
			   struct pypi_file *file)
{
	_cleanup_(str_release) struct str url = STR_INIT;
	const cJSON *yanked = json_member(item, "yanked");
	const char *link = json_text(item, "url", arena);
	struct error ignored = {0};

	*file = (struct pypi_file){.filename = json_text(item, "filename", arena)};
	if (!file->filename || !pypi_word(file->filename) || !link || cJSON_IsTrue(yanked) ||
	    cJSON_IsString(yanked))
		return false;
	if (strlen(link) > URL_BYTES_MAX || url_join(page_url, link, &url, &ignored) < 0 ||
	    !web_url_is_fine(url.text))
		return false;
	file->url = arena_strndup(arena, url.text, strcspn(url.text, "#"));
	file->is_wheel = ends_with(file->filename, ".whl");
	if (!(file->is_wheel ? pypi_split_wheel(file, arena) : pypi_split_source(file, arena)))
		return false;
	pypi_split_local(file, arena);
	if (!package_is_release(file->version))
		return false;
	file->sha256 = pypi_sha256(item, arena);
	file->requires_python = pypi_requires_python(item, arena);
	file->has_metadata = pypi_says_metadata(item);
	pypi_take_month(item, arena, file->month);
	return true;
}

int pypi_page_parse(const char *text, size_t length, const char *url, const char *name,
		    struct arena *arena, struct pypi_page *page, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;
	const cJSON *files, *item;
	int count, rc;

	*page = (struct pypi_page){.name = name};
	if (text[strspn(text, " \t\r\n")] == '<')
		rc = simple_html_parse(text, length, PYPI_FILES_MAX, &json, err);
	else
		rc = json_parse(text, length, "the index", &json, err);
	if (rc < 0)
		return error_wrap(err, "%.300s", url);
	files = json_member(json, "files");
	count = cJSON_GetArraySize(files);
	if (!cJSON_IsArray(files) || count > PYPI_FILES_MAX)
		return error_set(
			err, ERROR_FAILED,
			"%.300s holds no list of at most %d \"files\"; is it an index of Python packages?",
			url, PYPI_FILES_MAX);
	page->files = ARENA_ARRAY(arena, (size_t)count + 1, struct pypi_file);
	cJSON_ArrayForEach (item, files)
		if (pypi_take_file(item, url, arena, &page->files[page->count]))
			page->count++;
	return 0;
}

int pypi_pages(const struct pypi *pypi, const char *const *names, size_t count,
	       struct pypi_page *pages, struct error *err)
{
	struct web_request *requests = ARENA_ARRAY(pypi->arena, count + 1, struct web_request);
	int rc;

	for (size_t i = 0; i < count; i++)
		requests[i] = (struct web_request){
			.url = arena_printf(pypi->arena, "%s/%s/", pypi->index, names[i]),
			.accept = PYPI_FORMS,
			.bytes_max = PYPI_PAGE_BYTES_MAX,
		};
	rc = web_fetch(pypi->web, requests, count, err);
	for (size_t i = 0; i < count && rc == 0; i++) {
		struct web_request *r = &requests[i];

		pages[i] = (struct pypi_page){.name = names[i], .err = r->err};
		if (r->err.kind != ERROR_NONE)
			continue;
		if (!r->found)
			error_set(&pages[i].err, ERROR_FAILED,
				  "%s: there is no such package; name a mirror that has it",
				  r->url);
		else if (pypi_page_parse(r->body.text, r->body.length, r->url, names[i],
					 pypi->arena, &pages[i], &r->err) < 0)
			pages[i].err = r->err;
	}
	web_release(requests, count);
	return rc;
}

/* --- METADATA ------------------------------------------------------------------------------- */

/* What is known of a wheel after each round of requests. */
struct pypi_reading {
	struct pypi_metadata *wanted;
	struct wheel_directory directory;
	struct wheel_entry entry;
	uint64_t total;
	bool is_done, has_entry, has_directory;
};

static bool pypi_is_open(const struct pypi_reading *r)
{
	return !r->is_done && r->wanted->err.kind == ERROR_NONE;
}

static void pypi_take_text(const struct pypi *pypi, struct pypi_reading *r, const char *text,
			   size_t length)
{
	r->is_done = metadata_parse(text, length, r->wanted->file->url, pypi->arena,
				    &r->wanted->metadata, &r->wanted->err) == 0;
}

/* The rest of one round, when a request was answered: text, or what the next round asks for. */
static void pypi_take_round(const struct pypi *pypi, struct pypi_reading *r,
			    const struct web_request *q)
{
	const char *url = r->wanted->file->url;
	struct error *err = &r->wanted->err;
	uint64_t start = q->total_bytes - q->body.length;
	char *text = NULL;

	if (r->has_entry) {
		if (wheel_unpack(&r->entry, q->body.text, q->body.length, url, pypi->arena, &text,
				 err) == 0)
			pypi_take_text(pypi, r, text, strlen(text));
	} else if (r->has_directory) {
		r->has_entry = wheel_find_metadata(q->body.text, q->body.length, r->total, url,
						   &r->entry, err) == 0;
	} else {
		r->total = q->total_bytes;
		if (wheel_find_directory(q->body.text, q->body.length, r->total, url, &r->directory,
					 err) < 0)
			return;
		r->has_directory = true;
		if (r->directory.start >= start)
			r->has_entry =
				wheel_find_metadata(q->body.text + (r->directory.start - start),
						    (size_t)r->directory.bytes, r->total, url,
						    &r->entry, err) == 0;
	}
}

/* The bytes that the next round reads of the wheel. */
static const char *pypi_range(const struct pypi *pypi, const struct pypi_reading *r)
{
	uint64_t start = r->directory.start, bytes = r->directory.bytes;

	if (!r->has_directory)
		return arena_printf(pypi->arena, "bytes=-%llu",
				    (unsigned long long)PYPI_TAIL_BYTES);
	if (r->has_entry) {
		start = r->entry.start;
		bytes = WHEEL_LOCAL_BYTES(r->entry.name_bytes) + r->entry.packed;
	}
	if (bytes > r->total - start)
		bytes = r->total - start;
	return arena_printf(pypi->arena, "bytes=%" PRIu64 "-%" PRIu64, start, start + bytes - 1);
}

/* One request for each wheel that is not done. */
static int pypi_round(const struct pypi *pypi, struct pypi_reading *list, size_t count, bool beside,
		      struct error *err)
{
	struct web_request *requests = ARENA_ARRAY(pypi->arena, count + 1, struct web_request);
	size_t *of = ARENA_ARRAY(pypi->arena, count + 1, size_t), asked = 0;
	int rc;

	for (size_t i = 0; i < count; i++) {
		struct pypi_reading *r = &list[i];

		if (!pypi_is_open(r) || (beside && !r->wanted->file->has_metadata))
			continue;
		of[asked] = i;
		requests[asked++] = (struct web_request){
			.url = beside ? arena_printf(pypi->arena, "%s.metadata",
						     r->wanted->file->url)
				      : r->wanted->file->url,
			.range = beside ? NULL : pypi_range(pypi, r),
			.bytes_max = beside ? METADATA_BYTES_MAX
					    : PYPI_DIRECTORY_BYTES_MAX + PYPI_TAIL_BYTES,
		};
	}
	rc = web_fetch(pypi->web, requests, asked, err);
	for (size_t i = 0; i < asked && rc == 0; i++) {
		struct pypi_reading *r = &list[of[i]];
		const struct web_request *q = &requests[i];

		if (beside && q->err.kind == ERROR_NONE && q->found)
			pypi_take_text(pypi, r, q->body.text, q->body.length);
		else if (!beside && q->err.kind != ERROR_NONE)
			r->wanted->err = q->err;
		else if (!beside && !q->found)
			error_set(&r->wanted->err, ERROR_FAILED, "%.300s is not there (HTTP 404)",
				  q->url);
		else if (!beside)
			pypi_take_round(pypi, r, q);
	}
	web_release(requests, asked);
	return rc;
}

int pypi_metadata(const struct pypi *pypi, struct pypi_metadata *list, size_t count,
		  struct error *err)
{
	struct pypi_reading *readings = ARENA_ARRAY(pypi->arena, count + 1, struct pypi_reading);

	for (size_t i = 0; i < count; i++)
		readings[i].wanted = &list[i];
	if (pypi_round(pypi, readings, count, true, err) < 0)
		return -1;
	for (int round = 0; round < 3; round++) /* the end, the list of files, METADATA */
		if (pypi_round(pypi, readings, count, false, err) < 0)
			return -1;
	return 0;
}

int pypi_metadata_error(const struct pypi_metadata *list, size_t count, struct error *err)
{
	for (size_t i = 0; i < count; i++) {
		if (list[i].err.kind != ERROR_NONE) {
			*err = list[i].err;
			return -1;
		}
	}
	return 0;
}

/* --- what wheels are for -------------------------------------------------------------------- */

static bool pypi_fits(const struct pypi_file *file, const char *arch)
{
	if (!file->is_wheel || *file->build)
		return false;
	if (strcmp(file->platforms, "any") == 0)
		return true;
	return strstr(file->platforms, "linux") && strstr(file->platforms, arch);
}

bool pypi_fits_x86_64(const struct pypi_file *file)
{
	return pypi_fits(file, "x86_64");
}

bool pypi_fits_aarch64(const struct pypi_file *file)
{
	return pypi_fits(file, "aarch64");
}

const char *pypi_glibc(const struct pypi_file *file, struct arena *arena)
{
	static const char *const old[][2] = {
		{"manylinux2014", "2.17"}, {"manylinux2010", "2.12"}, {"manylinux1", "2.5"}};
	const char *found = strstr(file->platforms, "manylinux_");
	unsigned major, minor;

	if (found && sscanf(found, "manylinux_%2u_%3u", &major, &minor) == 2)
		return arena_printf(arena, "%u.%u", major, minor);
	for (size_t i = 0; i < ARRAY_LEN(old); i++)
		if (strstr(file->platforms, old[i][0]))
			return old[i][1];
	return "";
}

void pypi_page_build(const struct pypi_page *page, const char *build, struct arena *arena,
		     struct pypi_page *out)
{
	*out = (struct pypi_page){.name = page->name};
	out->files = ARENA_ARRAY(arena, page->count + 1, struct pypi_file);
	for (size_t i = 0; i < page->count; i++) {
		if (strcmp(page->files[i].build, build) != 0)
			continue;
		out->files[out->count] = page->files[i];
		out->files[out->count++].build = "";
	}
}

static int pypi_by_version(const void *a, const void *b)
{
	return version_compare(*(const char *const *)a, *(const char *const *)b);
}

const char *const *pypi_versions(const struct pypi_page *page,
				 bool (*fits)(const struct pypi_file *file), struct arena *arena)
{
	const char **list = ARENA_ARRAY(arena, page->count + 1, const char *);
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < page->count; i++)
		if (fits(&page->files[i]))
			list[count++] = page->files[i].version;
	qsort(list, count, sizeof(*list), pypi_by_version);
	for (size_t i = 0; i < count; i++)
		if (!kept || strcmp(list[kept - 1], list[i]) != 0)
			list[kept++] = list[i];
	list[kept] = NULL;
	return list;
}

const struct pypi_file *pypi_find(const struct pypi_page *page, const char *version,
				  bool (*fits)(const struct pypi_file *file))
{
	for (size_t i = 0; i < page->count; i++)
		if (strcmp(page->files[i].version, version) == 0 && fits(&page->files[i]))
			return &page->files[i];
	return NULL;
}

/* cp27 sets has_27, cp310 bit 10; builds without the interpreter's lock (cp313t) do not count. */
static void pypi_mark_python(const struct pypi_file *file, uint64_t *minors, bool *has_27)
{
	unsigned minor;

	if (strncmp(file->pythons, "cp", 2) != 0 || ends_with(file->abi, "t"))
		return;
	if (strncmp(file->pythons, "cp27", 4) == 0)
		*has_27 = true;
	else if (sscanf(file->pythons, "cp3%2u", &minor) == 1 && minor < PYPI_MINORS_MAX)
		*minors |= 1ULL << minor;
}

const char *pypi_pythons(const struct pypi_page *page, const char *version, struct arena *arena)
{
	_cleanup_(str_release) struct str cell = STR_INIT;
	uint64_t minors = 0;
	bool has_27 = false;

	for (size_t i = 0; i < page->count; i++)
		if (strcmp(page->files[i].version, version) == 0 &&
		    pypi_fits_x86_64(&page->files[i]))
			pypi_mark_python(&page->files[i], &minors, &has_27);
	if (has_27)
		str_add(&cell, "==2.7.*");
	for (int first = 0; first < PYPI_MINORS_MAX; first++) {
		int last = first;

		if (!(minors >> first & 1))
			continue;
		while (last + 1 < PYPI_MINORS_MAX && (minors >> (last + 1) & 1))
			last++;
		str_add(&cell, cell.length ? "|" : "");
		if (last == first)
			str_addf(&cell, "==3.%d.*", first);
		else
			str_addf(&cell, ">=3.%d;<3.%d", first, last + 1);
		first = last;
	}
	return arena_strdup(arena, cell.text);
}
