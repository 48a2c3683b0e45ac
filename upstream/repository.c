/* SPDX-License-Identifier: MIT */
#include "upstream/repository.h"

#include "core/str.h"
#include "oci/layer/gzip.h"
#include "plan/version.h"
#include "upstream/apt.h"
#include "upstream/limits.h"
#include "upstream/rpm.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define REPOSITORIES_MAX 64
#define REPOSITORY_FAILURES_MAX 2
#define REPOSITORY_ADVICE "name a mirror of it in 'mirrors: downloads:'"

/* --- packages ------------------------------------------------------------------------------- */

static bool package_is_plain(const char *text, size_t max)
{
	size_t length = strlen(text);

	if (!length || length >= max)
		return false;
	for (const char *p = text; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-~", *p))
			return false;
	return true;
}

void package_add(struct package_list *list, const char *name, const char *version)
{
	if ((!starts_with(name, "libnccl") && !starts_with(name, "libcudnn9-")) ||
	    !package_is_plain(name, NAME_BYTES_MAX) ||
	    !package_is_plain(version, VERSION_BYTES_MAX))
		return;
	if (list->count == list->capacity) {
		struct package *old = list->packages;

		list->capacity = list->capacity ? list->capacity * 2 : 64;
		list->packages = ARENA_ARRAY(list->arena, list->capacity, struct package);
		if (old)
			memcpy(list->packages, old, list->count * sizeof(*old));
	}
	list->packages[list->count++] = (struct package){arena_strdup(list->arena, name),
							 arena_strdup(list->arena, version)};
}

static bool package_is_there(const struct package_list *list, const char *name, const char *version)
{
	for (size_t i = 0; i < list->count; i++)
		if (strcmp(list->packages[i].name, name) == 0 &&
		    strcmp(list->packages[i].version, version) == 0)
			return true;
	return false;
}

/* --- repositories --------------------------------------------------------------------------- */

static void repository_take(void *arg, const void *bytes, size_t length)
{
	str_add_bytes(arg, bytes, length);
}

int repository_gunzip(const void *bytes, size_t length, const char *what, struct str *text,
		      struct error *err)
{
	struct gunzip *gunzip = gunzip_new(repository_take, text);
	const char *at = bytes;
	int rc = 0;

	while (length && rc == 0 && !text->overflowed) {
		size_t piece = length < MIB ? length : MIB;

		rc = gunzip_add(gunzip, at, piece, err);
		at += piece;
		length -= piece;
	}
	if (rc == 0 && !text->overflowed)
		rc = gunzip_finish(gunzip, err);
	gunzip_free(gunzip);
	if (rc < 0)
		return error_wrap(err, "%.300s", what);
	return text->overflowed
		       ? error_set(err, ERROR_FAILED, "%.300s unpacks to more than %zu bytes", what,
				   text->ceiling_bytes)
		       : 0;
}

/* One document, or the error that says why there is none. */
static int repository_get(struct refresh *refresh, const char *url, size_t bytes_max,
			  struct str *body, struct error *err)
{
	struct web_request request = {.url = url, .bytes_max = bytes_max};
	int rc = web_fetch(&refresh->web, &request, 1, err);

	if (rc == 0 && request.err.kind != ERROR_NONE) {
		*err = request.err;
		rc = -1;
	} else if (rc == 0 && !request.found) {
		rc = error_set(err, ERROR_FAILED, "%.300s is not there (HTTP 404); %s", url,
			       REPOSITORY_ADVICE);
	} else if (rc == 0) {
		str_add_bytes(body, request.body.text, request.body.length);
	}
	web_release(&request, 1);
	return rc;
}

static int repository_get_packed(struct refresh *refresh, const char *url, struct str *text,
				 struct error *err)
{
	_cleanup_(str_release) struct str packed = STR_INIT;

	return repository_get(refresh, url, PACKAGES_BYTES_MAX, &packed, err) < 0
		       ? -1
		       : repository_gunzip(packed.text, packed.length, url, text, err);
}

static int repository_read_rpm(struct refresh *refresh, const char *base, struct str *text,
			       struct package_list *list, struct error *err)
{
	_cleanup_(str_release) struct str repomd = STR_INIT;
	const char *url = arena_printf(refresh->arena, "%s/repodata/repomd.xml", base);
	const char *href = "";

	if (repository_get(refresh, url, REPOMD_BYTES_MAX, &repomd, err) < 0 ||
	    rpm_read_repomd(repomd.text, repomd.length, url, refresh->arena, &href, err) < 0)
		return -1;
	url = arena_printf(refresh->arena, "%s/%s", base, href);
	return repository_get_packed(refresh, url, text, err) < 0
		       ? -1
		       : rpm_read_primary(text->text, text->length, url, list, err);
}

static int repository_read(struct refresh *refresh, const char *kind, const char *base,
			   struct package_list *list, struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	const char *url = arena_printf(refresh->arena, "%s/Packages.gz", base);

	str_init_ceiling(&text, PACKAGES_TEXT_BYTES_MAX);
	if (strcmp(kind, "rpm") == 0)
		return repository_read_rpm(refresh, base, &text, list, err);
	return repository_get_packed(refresh, url, &text, err) < 0
		       ? -1
		       : apt_read(text.text, text.length, url, list, err);
}

/* --- rows ----------------------------------------------------------------------------------- */

/* A row that packages make: the words for the package manager, ';' between. */
struct package_row {
	const char *table, *kind, *version, *built;
	const char *run, *build;
};

/* Whether the row is not older than those that the catalog has of this kind and CUDA. */
static bool repository_wants(const struct table *table, const struct package_row *row)
{
	struct fact_list cells = {.arena = NULL};
	const char *oldest;
	ssize_t newest;

	fact_add(&cells, FACT_NEW, "kind", row->kind);
	newest = rows_newest(table, cells.list);
	fact_add(&cells, FACT_NEW, "built", row->built);
	oldest = rows_oldest(table, cells.list);
	if (!oldest && newest >= 0)
		oldest = table_cell(table, (size_t)newest, "version");
	return oldest && version_compare(row->version, oldest) >= 0;
}

static void repository_offer(struct refresh *refresh, const struct package_row *row,
			     const char *url)
{
	static const char *const copied[] = {"sm", NULL};
	const struct table *table = catalog_table(refresh->rows.catalog, row->table);
	struct fact_list keys = FACT_LIST_INIT(refresh->arena);
	struct fact_list facts = FACT_LIST_INIT(refresh->arena);
	long major = strtol(row->built, NULL, 10);
	const struct offer offer = {.table = row->table,
				    .version = row->version,
				    .keys = keys.list,
				    .facts = facts.list,
				    .copied = copied,
				    .note = "",
				    .source = "nvidia-repositories",
				    .url = url};

	if (!repository_wants(table, row))
		return;
	fact_add(&keys, FACT_NEW, "kind", row->kind);
	fact_add(&keys, FACT_NEW, "built", row->built);
	/* before CUDA 11 a library fits only the CUDA that it was built for */
	if (major >= 11)
		fact_addf(&facts, FACT_NEW, row->built, "cuda", ">=%ld;<%ld", major, major + 1);
	else
		fact_addf(&facts, FACT_NEW, row->built, "cuda", "==%s.*", row->built);
	fact_add(&facts, FACT_COMPARED, "run_packages", row->run);
	fact_add(&facts, FACT_COMPARED, "build_packages", row->build);
	rows_offer(&refresh->rows, &offer);
}

/* "NAME=VERSION" or "NAME-VERSION" */
static const char *repository_word(struct arena *arena, const char *kind, const char *name,
				   const char *version)
{
	return arena_printf(arena, "%s%c%s", name, strcmp(kind, "apt") == 0 ? '=' : '-', version);
}

/* libnccl2 of apt and libnccl of rpm, "2.27.7-1+cuda12.9" */
static void repository_take_nccl(struct refresh *refresh, const char *kind,
				 const struct package_list *list, const struct package *p,
				 const char *url)
{
	bool is_apt = strcmp(kind, "apt") == 0;
	const char *plus = strstr(p->version, "+cuda"), *built = plus ? plus + strlen("+cuda") : "";
	const char *devel = is_apt ? "libnccl-dev" : "libnccl-devel";
	struct arena *arena = refresh->arena;
	const struct package_row row = {
		.table = "nccl",
		.kind = kind,
		.version = arena_strndup(arena, p->version, strcspn(p->version, "+")),
		.built = built,
		.run = repository_word(arena, kind, p->name, p->version),
		.build = repository_word(arena, kind, devel, p->version)};

	if (strcmp(p->name, is_apt ? "libnccl2" : "libnccl") == 0 && package_is_release(built) &&
	    package_is_there(list, devel, p->version))
		repository_offer(refresh, &row, url);
}

/* libcudnn9-cuda-13 "9.14.0.64-1" */
static void repository_take_cudnn(struct refresh *refresh, const char *kind,
				  const struct package_list *list, const struct package *p,
				  const char *url)
{
	static const char name[] = "libcudnn9-cuda-";
	const char *built = p->name + strlen(name), *devel, *headers;
	bool is_apt = strcmp(kind, "apt") == 0;
	struct arena *arena = refresh->arena;
	struct package_row row = {.table = "cudnn", .kind = kind};

	if (!starts_with(p->name, name) || strspn(built, "0123456789") != strlen(built) || !*built)
		return;
	devel = arena_printf(arena, is_apt ? "libcudnn9-dev-cuda-%s" : "libcudnn9-devel-cuda-%s",
			     built);
	headers = arena_printf(arena, "libcudnn9-headers-cuda-%s", built);
	row.built = built;
	row.version = arena_strndup(arena, p->version, strcspn(p->version, "-"));
	row.run = repository_word(arena, kind, p->name, p->version);
	row.build = repository_word(arena, kind, devel, p->version);
	if (is_apt)
		row.build = arena_printf(arena, "%s;%s", row.build,
					 repository_word(arena, kind, headers, p->version));
	if (package_is_release(row.version) && package_is_there(list, devel, p->version) &&
	    (!is_apt || package_is_there(list, headers, p->version)))
		repository_offer(refresh, &row, url);
}

static void repository_take_all(struct refresh *refresh, const char *component, const char *kind,
				const struct package_list *list, const char *url)
{
	rows_source(&refresh->rows, "nvidia-repositories",
		    "NVIDIA: apt and rpm repositories of CUDA",
		    "https://developer.download.nvidia.com/compute/cuda/repos/");
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(component, "nccl") == 0)
			repository_take_nccl(refresh, kind, list, &list->packages[i], url);
		else
			repository_take_cudnn(refresh, kind, list, &list->packages[i], url);
	}
}

/* The kind of the OS's package manager: apt or rpm. */
static const char *repository_kind(const struct refresh *refresh, const struct table *os,
				   size_t row)
{
	return catalog_named(refresh->rows.catalog, "package_manager",
			     table_cell(os, row, "package_manager"), "kind");
}

/* Nothing new comes for an OS after its end of life, and some of their repositories are gone. */
static bool repository_is_alive(const struct refresh *refresh, const struct table *os, size_t row)
{
	const char *eol = table_cell(os, row, "eol");

	return strncmp(eol, refresh->rows.today, strlen(eol)) >= 0;
}

/* The repositories of all OSes, each once. */
static void repository_list(struct refresh *refresh)
{
	const struct table *os = catalog_table(refresh->rows.catalog, "os");

	refresh->repositories = ARENA_ARRAY(refresh->arena, REPOSITORIES_MAX, struct repository);
	for (size_t row = 0; row < os->row_count && refresh->repository_count < REPOSITORIES_MAX;
	     row++) {
		const char *place = table_cell(os, row, "repository");
		bool known = !*place || !repository_is_alive(refresh, os, row);

		for (size_t i = 0; i < refresh->repository_count; i++)
			known |= strcmp(refresh->repositories[i].place, place) == 0;
		if (!known)
			refresh->repositories[refresh->repository_count++] =
				(struct repository){.place = place,
						    .kind = repository_kind(refresh, os, row),
						    .url = refresh_url(refresh, place),
						    .list = {.arena = refresh->arena}};
	}
}

/* Reads each of them once in a run: cuDNN and NCCL come from the same lists. */
static int repository_read_all(struct refresh *refresh, struct error *err)
{
	int failures = 0; /* in a row: they are mostly on one host, and each waits for it */

	repository_list(refresh);
	for (size_t i = 0; i < refresh->repository_count; i++) {
		struct repository *r = &refresh->repositories[i];

		if (failures == REPOSITORY_FAILURES_MAX)
			error_set(&r->err, ERROR_FAILED,
				  "%.300s is not asked, since others did not answer", r->url);
		else if (repository_read(refresh, r->kind, r->url, &r->list, &r->err) == 0)
			failures = 0;
		else
			failures++;
		if (r->err.kind == ERROR_INTERRUPTED) {
			*err = r->err;
			return -1;
		}
	}
	return 0;
}

int refresh_repositories(struct refresh *refresh, const char *component, struct error *err)
{
	struct error first = {0};

	if (!refresh->repositories && repository_read_all(refresh, err) < 0)
		return -1;
	for (size_t i = 0; i < refresh->repository_count; i++) {
		const struct repository *r = &refresh->repositories[i];

		if (r->err.kind == ERROR_NONE)
			repository_take_all(refresh, component, r->kind, &r->list, r->url);
		else
			refresh_keep_error(&first, &r->err);
	}
	if (first.kind != ERROR_NONE)
		*err = first;
	return first.kind != ERROR_NONE ? -1 : 0;
}
