/* SPDX-License-Identifier: MIT */
#include "upstream/python/wheels.h"

#include "core/str.h"
#include "core/words.h"
#include "plan/version.h"

#include <stdlib.h>
#include <string.h>

#define WHEEL_GROUPS_MAX 16
#define WHEEL_PACKAGES_MAX 8 /* of one row */

/* Rows of one component and major CUDA, and the packages that its newest row names. */
struct wheel_group {
	const char *component, *built;
	const char *oldest; /* version */
	size_t package_count;
	const char *packages[WHEEL_PACKAGES_MAX];
};

static const struct fact *wheel_group_cells(const struct wheel_group *group, struct arena *arena)
{
	struct fact_list *cells = ARENA_NEW(arena, struct fact_list);

	cells->arena = arena;
	fact_add(cells, FACT_NEW, "component", group->component);
	fact_add(cells, FACT_NEW, "built", group->built);
	return cells->list;
}

/* The names before "==" in a cell of pip. */
static void wheel_read_packages(const char *cell, struct arena *arena, struct wheel_group *group)
{
	group->package_count = 0;
	while (*cell && group->package_count < WHEEL_PACKAGES_MAX) {
		size_t item = strcspn(cell, ";"), name = strcspn(cell, "=;");
		const char *package = package_name(cell, name, arena);

		if (package)
			group->packages[group->package_count++] = package;
		cell += item + (cell[item] == ';');
	}
}

static size_t wheel_read_groups(const struct table *table, struct arena *arena,
				struct wheel_group *groups)
{
	size_t count = 0;

	for (size_t row = 0; row < table->row_count; row++) {
		struct wheel_group group = {.component = table_cell(table, row, "component"),
					    .built = table_cell(table, row, "built")};
		const struct fact *cells = wheel_group_cells(&group, arena);
		bool known = false;

		for (size_t i = 0; i < count; i++)
			known |= strcmp(groups[i].component, group.component) == 0 &&
				 strcmp(groups[i].built, group.built) == 0;
		if (known || count == WHEEL_GROUPS_MAX)
			continue;
		group.oldest = rows_oldest(table, cells);
		wheel_read_packages(table_cell(table, (size_t)rows_newest(table, cells), "pip"),
				    arena, &group);
		groups[count++] = group;
	}
	return count;
}

/* --- cuDNN and NCCL: one package each ------------------------------------------------------- */

/* NCCL's rows have the revision of its packages too. */
static const char *wheel_row_version(const char *component, const char *version,
				     struct arena *arena)
{
	return strcmp(component, "nccl") == 0 ? arena_printf(arena, "%s-1", version) : version;
}

static void wheel_offer(struct refresh *refresh, const struct wheel_group *group,
			const char *version, const char *pip, const char *sha256, const char *note,
			const char *url)
{
	struct fact_list facts = FACT_LIST_INIT(refresh->arena);
	struct fact_list keys = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {.table = "wheel",
				    .version = version,
				    .keys = keys.list,
				    .facts = facts.list,
				    .note = note,
				    .source = "pypi",
				    .url = url};

	fact_add(&keys, FACT_NEW, "component", group->component);
	fact_add(&keys, FACT_NEW, "built", group->built);
	fact_add(&facts, FACT_COMPARED, "pip", pip);
	fact_add(&facts, FACT_COMPARED, "sha256", sha256);
	rows_offer(&refresh->rows, &offer);
}

static void wheel_offer_library(struct refresh *refresh, const struct wheel_group *group,
				const struct pypi_page *page)
{
	const char *const *versions = pypi_versions(page, pypi_fits_x86_64, refresh->arena);

	for (; *versions; versions++) {
		const struct pypi_file *file = pypi_find(page, *versions, pypi_fits_x86_64);
		const char *version =
			wheel_row_version(group->component, *versions, refresh->arena);

		if (!*file->sha256 || version_compare(version, group->oldest) < 0)
			continue;
		wheel_offer(refresh, group, version,
			    arena_printf(refresh->arena, "%s==%s", page->name, *versions),
			    file->sha256, "x86_64", file->url);
	}
}

/* --- CUDA: the packages that a version of cuda-toolkit names -------------------------------- */

/* "12.8.2" of "12.8.2.0": a release of cuda-toolkit that only mends its METADATA has a fourth number. */
static const char *wheel_toolkit_version(const char *version, struct arena *arena)
{
	size_t dots = 0;

	for (const char *p = version; *p; p++)
		dots += *p == '.';
	return dots == 3 && ends_with(version, ".0")
		       ? arena_strndup(arena, version, strlen(version) - 2)
		       : version;
}

/* The newest release of the package within the series of its pin: "13.5.37.*" */
static const struct pypi_file *wheel_of_series(const struct pypi_page *page, const char *series,
					       struct arena *arena)
{
	const char *const *versions = pypi_versions(page, pypi_fits_x86_64, arena);
	const struct pypi_file *best = NULL;

	for (; *versions; versions++)
		if (version_in_series(*versions, series))
			best = pypi_find(page, *versions, pypi_fits_x86_64);
	return best;
}

static const struct pypi_page *wheel_page(const struct pypi_page *pages, size_t count,
					  const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(pages[i].name, name) == 0 && pages[i].err.kind == ERROR_NONE)
			return &pages[i];
	return NULL;
}

static void wheel_offer_toolkit(struct refresh *refresh, const struct wheel_group *group,
				const struct pypi_metadata *toolkit, const struct pypi_page *pages,
				size_t page_count)
{
	struct words pip = WORDS_INIT(refresh->arena), sums = WORDS_INIT(refresh->arena);

	for (size_t i = 0; i < group->package_count; i++) {
		const struct metadata_need *need =
			metadata_need(&toolkit->metadata, group->packages[i], "all");
		const struct pypi_page *page = wheel_page(pages, page_count, group->packages[i]);
		const char *pin = need ? metadata_pin(need, refresh->arena) : "";
		const struct pypi_file *file =
			page && *pin ? wheel_of_series(page, pin, refresh->arena) : NULL;

		if (!file || !*file->sha256)
			return; /* a row that is not whole is none */
		words_addf(&pip, "%s==%s", group->packages[i], file->version);
		words_add(&sums, file->sha256);
	}
	wheel_offer(refresh, group, wheel_toolkit_version(toolkit->file->version, refresh->arena),
		    words_join(&pip, ";"), words_join(&sums, ";"),
		    arena_printf(refresh->arena, "the packages that cuda-toolkit==%s names; x86_64",
				 toolkit->file->version),
		    toolkit->file->url);
}

static int wheel_offer_cuda(struct refresh *refresh, const struct wheel_group *group,
			    const struct pypi_page *pages, size_t page_count, struct error *err)
{
	const struct pypi pypi = refresh_pypi(refresh);
	const struct pypi_page *page = wheel_page(pages, page_count, "cuda-toolkit");
	struct pypi_metadata *list;
	const char *const *versions;
	size_t count = 0;

	if (!page)
		return 0; /* its error is that of the pages */
	versions = pypi_versions(page, pypi_fits_x86_64, refresh->arena);
	list = ARENA_ARRAY(refresh->arena, page->count + 1, struct pypi_metadata);
	for (; *versions; versions++)
		if (version_in_series(*versions, group->built) &&
		    version_compare(*versions, group->oldest) >= 0)
			list[count++].file = pypi_find(page, *versions, pypi_fits_x86_64);
	if (pypi_metadata(&pypi, list, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (list[i].err.kind == ERROR_NONE)
			wheel_offer_toolkit(refresh, group, &list[i], pages, page_count);
		else if (err->kind == ERROR_NONE)
			*err = list[i].err;
	}
	return err->kind == ERROR_NONE ? 0 : -1;
}

/* --- all of wheel.csv ----------------------------------------------------------------------- */

static int wheel_offer_group(struct refresh *refresh, const struct wheel_group *group,
			     const struct pypi_page *pages, size_t count, struct error *err)
{
	const struct pypi_page *page;

	if (strcmp(group->component, "cuda") == 0)
		return wheel_offer_cuda(refresh, group, pages, count, err);
	page = group->package_count == 1 ? wheel_page(pages, count, group->packages[0]) : NULL;
	if (page)
		wheel_offer_library(refresh, group, page);
	return 0;
}

int refresh_wheels(struct refresh *refresh, struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "wheel");
	struct wheel_group groups[WHEEL_GROUPS_MAX];
	const struct pypi pypi = refresh_pypi(refresh);
	struct words names = WORDS_INIT(refresh->arena);
	struct pypi_page *pages;
	struct error first = {0};
	size_t count = table ? wheel_read_groups(table, refresh->arena, groups) : 0;

	words_add(&names, "cuda-toolkit");
	for (size_t i = 0; i < count; i++)
		for (size_t p = 0; p < groups[i].package_count; p++)
			words_add(&names, groups[i].packages[p]);
	pages = ARENA_ARRAY(refresh->arena, names.count, struct pypi_page);
	if (pypi_pages(&pypi, names.list, names.count, pages, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		refresh_keep_error(&first, &pages[i].err);
	for (size_t i = 0; i < count; i++) {
		struct error one = {0};

		wheel_offer_group(refresh, &groups[i], pages, names.count, &one);
		if (one.kind == ERROR_INTERRUPTED) {
			*err = one;
			return -1;
		}
		refresh_keep_error(&first, &one);
	}
	*err = first.kind != ERROR_NONE ? first : *err;
	return first.kind != ERROR_NONE ? -1 : 0;
}

/* --- cuda.csv ------------------------------------------------------------------------------- */

/* "13.5" of "13.5.0" */
static const char *cuda_series(const char *version, struct arena *arena)
{
	const char *dot = strchr(version, '.'), *second = dot ? strchr(dot + 1, '.') : NULL;

	return second ? arena_strndup(arena, version, (size_t)(second - version)) : version;
}

/* The newest row of the series that is not newer than the version, as cells that only it has; or NULL. */
static const struct fact *cuda_model(const struct table *table, const char *version,
				     struct arena *arena)
{
	const char *series = cuda_series(version, arena), *best = NULL;
	struct fact *cells = ARENA_ARRAY(arena, 2, struct fact);

	for (size_t row = 0; row < table->row_count; row++) {
		const char *other = table_cell(table, row, "version");

		if (version_in_series(other, series) && version_compare(other, version) <= 0 &&
		    (!best || version_compare(best, other) < 0))
			best = other;
	}
	cells[0] = (struct fact){"version", best, FACT_NEW};
	return best ? cells : NULL;
}

static void cuda_offer(struct refresh *refresh, const struct table *table,
		       const struct pypi_file *file)
{
	static const char *const copied[] = {"driver", "driver_minor", "gcc", "sm", "compat", NULL};
	const char *version = wheel_toolkit_version(file->version, refresh->arena);
	struct fact_list facts = FACT_LIST_INIT(refresh->arena);
	struct offer offer = {.table = "cuda",
			      .version = version,
			      .facts = facts.list,
			      .copied = copied,
			      .note = "",
			      .copies_note = true,
			      .source = "pypi",
			      .url = file->url};

	if (rows_find(table, version, NULL) >= 0)
		return;
	offer.alike = cuda_model(table, version, refresh->arena);
	fact_add(&facts, FACT_NEW, "released", file->month);
	if (offer.alike)
		rows_offer(&refresh->rows, &offer);
	else
		rows_look(
			&refresh->rows, "cuda", version,
			"a new series of CUDA: add its row; no index says which driver; GPUs and compilers go with it",
			"pypi", file->url);
}

int refresh_cuda(struct refresh *refresh, struct error *err)
{
	static const char *const name = "cuda-toolkit";
	const struct table *table = catalog_table(refresh->rows.catalog, "cuda");
	const struct pypi pypi = refresh_pypi(refresh);
	ssize_t newest = table ? rows_newest(table, NULL) : -1;
	const char *const *versions, *last;
	struct pypi_page page;

	if (pypi_pages(&pypi, &name, 1, &page, err) < 0)
		return -1;
	if (page.err.kind != ERROR_NONE) {
		*err = page.err;
		return -1;
	}
	if (newest < 0)
		return 0;
	/* older series that have no row were left out by somebody */
	last = cuda_series(table_cell(table, (size_t)newest, "version"), refresh->arena);
	versions = pypi_versions(&page, pypi_fits_x86_64, refresh->arena);
	for (; *versions; versions++)
		if (version_compare(cuda_series(*versions, refresh->arena), last) >= 0 ||
		    cuda_model(table, *versions, refresh->arena))
			cuda_offer(refresh, table, pypi_find(&page, *versions, pypi_fits_x86_64));
	return 0;
}

/* --- rows of kind pip ----------------------------------------------------------------------- */

static void pip_offer(struct refresh *refresh, const char *component, const char *built,
		      const char *package, const struct pypi_file *file)
{
	static const char *const copied[] = {"sm", NULL};
	struct fact_list facts = FACT_LIST_INIT(refresh->arena),
			 keys = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {
		.table = component,
		.version = wheel_row_version(component, file->version, refresh->arena),
		.keys = keys.list,
		.facts = facts.list,
		.copied = copied,
		.note = arena_printf(refresh->arena, "%s==%s", package, file->version),
		.source = "pypi",
		.url = file->url};

	fact_add(&keys, FACT_NEW, "kind", "pip");
	fact_add(&keys, FACT_NEW, "built", built);
	fact_addf(&facts, FACT_NEW, built, "cuda", ">=%s;<%ld", built, strtol(built, NULL, 10) + 1);
	fact_add(&facts, FACT_FILLS, "released", file->month);
	rows_offer(&refresh->rows, &offer);
}

/* The rows of one major CUDA. */
static int pip_refresh_group(struct refresh *refresh, const char *component, const char *built,
			     struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, component);
	const struct pypi pypi = refresh_pypi(refresh);
	struct fact_list cells = FACT_LIST_INIT(refresh->arena);
	const char *name = arena_printf(refresh->arena, "nvidia-%s-cu%s", component, built);
	const char *const *versions, *oldest;
	struct pypi_page page;

	fact_add(&cells, FACT_NEW, "kind", "pip");
	fact_add(&cells, FACT_NEW, "built", built);
	oldest = rows_oldest(table, cells.list);
	if (pypi_pages(&pypi, &name, 1, &page, err) < 0)
		return -1;
	if (page.err.kind != ERROR_NONE) {
		*err = page.err;
		return -1;
	}
	versions = pypi_versions(&page, pypi_fits_x86_64, refresh->arena);
	for (; *versions; versions++)
		if (version_compare(*versions, oldest) >= 0)
			pip_offer(refresh, component, built, name,
				  pypi_find(&page, *versions, pypi_fits_x86_64));
	return 0;
}

int refresh_pip_rows(struct refresh *refresh, const char *component, struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, component);
	struct words done = WORDS_INIT(refresh->arena);

	for (size_t row = 0; table && row < table->row_count; row++) {
		const char *built = table_cell(table, row, "built");
		bool known = strcmp(table_cell(table, row, "kind"), "pip") != 0;

		for (size_t i = 0; i < done.count; i++)
			known |= strcmp(done.list[i], built) == 0;
		if (known)
			continue;
		words_add(&done, built);
		if (pip_refresh_group(refresh, component, built, err) < 0)
			return -1;
	}
	return 0;
}
