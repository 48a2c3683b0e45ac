/* SPDX-License-Identifier: MIT */
#include "upstream/python/pytorch.h"

#include "plan/version.h"
#include "upstream/python/framework.h"
#include "upstream/limits.h"

#include <string.h>

#define PYTORCH_SUMS_SINCE "2.0" /* before it the recipe asks for the wheel in other ways */

const char *const pytorch_copied[] = {"nccl", "sm", "ptx", "compiler", "abi", NULL};

/* "cu92" and "cu126" are builds for CUDA; "cpu", "rocm6.3" and "cu118.with.pypi.cudnn" are not, or not alone. */
static bool pytorch_is_cuda(const char *build)
{
	size_t digits = strncmp(build, "cu", 2) == 0 ? strspn(build + 2, "0123456789") : 0;

	return digits >= 2 && digits <= 3 && !build[2 + digits];
}

/* The page's builds for CUDA, each once. */
static size_t pytorch_builds(const struct pypi_page *page,
			     const char *list[static PYTORCH_BUILDS_MAX])
{
	size_t count = 0;

	for (size_t i = 0; i < page->count && count < PYTORCH_BUILDS_MAX; i++) {
		const char *build = page->files[i].build;
		size_t known = 0;

		while (known < count && strcmp(list[known], build) != 0)
			known++;
		if (known == count && pytorch_is_cuda(build))
			list[count++] = build;
	}
	return count;
}

/* The wheels whose METADATA is read: those of rows, and those of releases that are missing since the oldest row. */
static size_t pytorch_wanted(struct refresh *refresh, const struct table *table, const char *build,
			     const struct pypi_page *page, struct pypi_metadata *list,
			     ssize_t *rows)
{
	const struct fact index[] = {
		{.column = "index",
		 .cell = arena_printf(refresh->arena, PYTORCH_INDEX "/%s", build)},
		{.column = NULL}};
	const char *const *versions = pypi_versions(page, pypi_fits_x86_64, refresh->arena);
	const char *oldest = rows_oldest(table, index);
	size_t count = 0;

	if (!oldest)
		oldest = rows_oldest(table, NULL);
	for (; oldest && *versions; versions++) {
		const struct pypi_file *file = pypi_find(page, *versions, pypi_fits_x86_64);
		ssize_t row = rows_find(table, *versions, index);

		if (row >= 0 ? !file->has_metadata : version_compare(*versions, oldest) < 0)
			continue;
		rows[count] = row;
		list[count++].file = file;
	}
	return count;
}

static int pytorch_refresh_build(struct refresh *refresh, const struct pypi *pypi,
				 const struct pypi_page *all, const char *build, struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "torch");
	const struct framework f = {.name = "torch",
				    .extra = "",
				    .build = build,
				    .copied = pytorch_copied,
				    .note = PYTORCH_NOTE};
	struct pypi_metadata *list =
		ARENA_ARRAY(refresh->arena, all->count + 1, struct pypi_metadata);
	ssize_t *rows = ARENA_ARRAY(refresh->arena, all->count + 1, ssize_t);
	struct pypi_page page;
	size_t count;

	if (!table)
		return 0;
	pypi_page_build(all, build, refresh->arena, &page);
	count = pytorch_wanted(refresh, table, build, &page, list, rows);
	if (pypi_metadata(pypi, list, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (list[i].err.kind == ERROR_NONE)
			framework_offer(refresh, &f, &page, &list[i], rows[i]);
	return pypi_metadata_error(list, count, err);
}

/* Wheels whose checksum a recipe gives to pip: of one Python, on x86_64, of releases that torch.csv has since 2.0. */
static bool pytorch_has_sum(const struct refresh *refresh, const struct pypi_file *file)
{
	const struct table *torch = catalog_table(refresh->rows.catalog, "torch");
	struct pypi_file plain = *file;

	plain.build = ""; /* pypi_fits_x86_64 is for the files of one build */
	return *file->sha256 && pypi_fits_x86_64(&plain) && starts_with(file->pythons, "cp") &&
	       strcmp(file->pythons, file->abi) == 0 &&
	       (pytorch_is_cuda(file->build) || strcmp(file->build, "cpu") == 0) &&
	       version_compare(file->version, PYTORCH_SUMS_SINCE) >= 0 && torch &&
	       rows_find(torch, file->version, NULL) >= 0;
}

/* index_wheel.csv */
static void pytorch_offer_sum(struct refresh *refresh, const struct pypi_file *file)
{
	struct fact_list keys = FACT_LIST_INIT(refresh->arena),
			 facts = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {.table = "index_wheel",
				    .version = file->version,
				    .keys = keys.list,
				    .facts = facts.list,
				    .note = "",
				    .source = "pytorch-index",
				    .url = file->url};

	fact_add(&keys, FACT_NEW, "component", "torch");
	fact_add(&keys, FACT_NEW, "built", file->build);
	fact_add(&keys, FACT_NEW, "flavor", file->pythons);
	fact_add(&facts, FACT_COMPARED, "sha256", file->sha256);
	rows_offer(&refresh->rows, &offer);
}

int refresh_pytorch(struct refresh *refresh, struct error *err)
{
	const struct pypi pypi =
		refresh_index(refresh, *refresh->pytorch ? refresh->pytorch : PYTORCH_INDEX);
	static const char *const name = "torch";
	const char *builds[PYTORCH_BUILDS_MAX];
	struct pypi_page page;
	struct error first = {0};
	size_t count;

	if (pypi_pages(&pypi, &name, 1, &page, err) < 0)
		return -1;
	if (page.err.kind != ERROR_NONE) {
		*err = page.err;
		return -1;
	}
	rows_source(&refresh->rows, "pytorch-index", "PyTorch's index of wheels",
		    PYTORCH_INDEX "/torch/");
	for (size_t i = 0; catalog_table(refresh->rows.catalog, "index_wheel") && i < page.count;
	     i++)
		if (pytorch_has_sum(refresh, &page.files[i]))
			pytorch_offer_sum(refresh, &page.files[i]);
	count = pytorch_builds(&page, builds);
	for (size_t i = 0; i < count; i++) {
		if (pytorch_refresh_build(refresh, &pypi, &page, builds[i], err) == 0)
			continue;
		if (err->kind == ERROR_INTERRUPTED)
			return -1;
		refresh_keep_error(&first, err);
		*err = (struct error){0};
	}
	*err = first;
	return first.kind != ERROR_NONE ? -1 : 0;
}
