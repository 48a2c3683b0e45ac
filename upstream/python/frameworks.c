/* SPDX-License-Identifier: MIT */
#include "upstream/python/frameworks.h"

#include "upstream/python/framework.h"
#include "upstream/python/pytorch.h"

#include "core/str.h"
#include "plan/version.h"

#include <stdlib.h>
#include <string.h>

static const char *const tensorflow_copied[] = {"sm", "ptx", "compiler", "abi", NULL};

static const struct framework torch = {
	.name = "torch",
	.extra = "",
	.build = "",
	.copied = pytorch_copied,
	.note = "default on PyPI; " PYTORCH_NOTE,
};
static const struct framework tensorflow = {
	.name = "tensorflow",
	.extra = "and-cuda",
	.build = "",
	.copied = tensorflow_copied,
	.note = "pip wheel pulls CUDA/cuDNN/NCCL as nvidia-* wheels",
};

/* --- torch and tensorflow ------------------------------------------------------------------- */

/* The row of this version that PyPI's wheel is for, or -1; *known tells whether there are others. */
static ssize_t framework_row(const struct table *table, const struct framework *f,
			     const char *version, bool *known, struct arena *arena)
{
	const char *plain = arena_printf(arena, "%s==%s", f->name, version);
	const char *extra = arena_printf(arena, "%s[%s]==%s", f->name, f->extra, version);
	ssize_t found = -1;

	*known = false;
	for (size_t row = 0; row < table->row_count; row++) {
		const char *pip = table_cell(table, row, "pip");

		if (strcmp(table_cell(table, row, "version"), version) != 0)
			continue;
		*known = true;
		if (strcmp(pip, plain) != 0 && strcmp(pip, extra) != 0)
			continue;
		/* of several rows with the same words for pip, it is the one that says so */
		if (found < 0 || strcmp(table_cell(table, row, "on_pypi"), "yes") == 0)
			found = (ssize_t)row;
		else if (strcmp(table_cell(table, (size_t)found, "on_pypi"), "yes") != 0)
			return -1;
	}
	return found;
}

/* The versions that are compared: those with a row, and those that are missing since the oldest row. */
static size_t framework_wanted(struct refresh *refresh, const struct framework *f,
			       const struct pypi_page *page, struct pypi_metadata **list,
			       ssize_t **rows)
{
	const struct table *table = catalog_table(refresh->rows.catalog, f->name);
	const char *const *versions = pypi_versions(page, pypi_fits_x86_64, refresh->arena);
	const char *oldest = table ? rows_oldest(table, NULL) : NULL;
	size_t count = 0;

	*list = ARENA_ARRAY(refresh->arena, page->count + 1, struct pypi_metadata);
	*rows = ARENA_ARRAY(refresh->arena, page->count + 1, ssize_t);
	for (; oldest && *versions; versions++) {
		bool known;
		ssize_t row = framework_row(table, f, *versions, &known, refresh->arena);

		if ((known && row < 0) || version_compare(*versions, oldest) < 0)
			continue;
		(*rows)[count] = row;
		(*list)[count++].file = pypi_find(page, *versions, pypi_fits_x86_64);
	}
	return count;
}

/*
 * The rows of NAME.aarch64.csv are written by hand: PyPI has only some of its builds, and does not say which of
 * them have CUDA. A release that has a wheel and no row is listed for a person.
 */
static void framework_look_aarch64(struct refresh *refresh, const char *framework,
				   const struct pypi_page *page)
{
	const char *name = arena_printf(refresh->arena, "%s.aarch64", framework);
	const struct table *table = catalog_file(refresh->rows.catalog, name);
	const char *const *versions = pypi_versions(page, pypi_fits_aarch64, refresh->arena);
	const char *oldest = table ? rows_oldest(table, NULL) : NULL;

	for (; oldest && *versions; versions++)
		if (version_compare(*versions, oldest) >= 0 &&
		    rows_find(table, *versions, NULL) < 0)
			rows_look(&refresh->rows, name, *versions,
				  "PyPI has a wheel for aarch64 and the table has no row", "pypi",
				  pypi_find(page, *versions, pypi_fits_aarch64)->url);
}

static int framework_refresh(struct refresh *refresh, const struct framework *f, struct error *err)
{
	const struct pypi pypi = refresh_pypi(refresh);
	struct pypi_metadata *list;
	struct pypi_page page;
	size_t count;
	ssize_t *rows;

	if (pypi_pages(&pypi, &f->name, 1, &page, err) < 0)
		return -1;
	if (page.err.kind != ERROR_NONE) {
		*err = page.err;
		return -1;
	}
	framework_look_aarch64(refresh, f->name, &page);
	count = framework_wanted(refresh, f, &page, &list, &rows);
	if (pypi_metadata(&pypi, list, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (list[i].err.kind == ERROR_NONE)
			framework_offer(refresh, f, &page, &list[i], rows[i]);
	return pypi_metadata_error(list, count, err);
}

/* PyPI and PyTorch's own index: each is asked, whatever the other says. */
int refresh_torch(struct refresh *refresh, struct error *err)
{
	struct error builds = {0};

	if (framework_refresh(refresh, &torch, err) < 0 && err->kind == ERROR_INTERRUPTED)
		return -1;
	if (refresh_pytorch(refresh, &builds) < 0 &&
	    (err->kind == ERROR_NONE || builds.kind == ERROR_INTERRUPTED))
		*err = builds;
	return err->kind == ERROR_NONE ? 0 : -1;
}

int refresh_tensorflow(struct refresh *refresh, struct error *err)
{
	return framework_refresh(refresh, &tensorflow, err);
}

/* --- jax ------------------------------------------------------------------------------------- */

/*
 * jax itself names no library of NVIDIA's: its extra cudaN asks for jax-cudaN-plugin of the same version, whose
 * extra with-cuda asks for ranges of them.
 */
struct jax_plugin {
	const char *package, *extra; /* "jax-cuda13-plugin", "cuda13" */
};

static const struct jax_plugin jax_plugins[] = {
	{"jax-cuda12-plugin", "cuda12"},
	{"jax-cuda13-plugin", "cuda13"},
};

#define JAX_EXTRA "with-cuda"

/* ">=9.8;<10.0" of "<10.0,>=9.8"; "" without a lower bound. Without an upper one it is the next major version. */
static const char *jax_range(const struct metadata_need *need, struct arena *arena)
{
	const char *least = need ? metadata_least(need, arena) : "";
	const char *below = need ? strchr(need->clauses, '<') : NULL;

	if (!*least)
		return "";
	if (!below || below[1] == '=')
		return arena_printf(arena, ">=%s;<%s", least,
				    framework_next(framework_major(least, arena), arena));
	return arena_printf(arena, ">=%s;<%.*s", least, (int)strcspn(below + 1, ","), below + 1);
}

static const char *jax_pip(const char *extra, const char *version, struct arena *arena)
{
	return arena_printf(arena, "jax[%s]==%s", extra, version);
}

static void jax_offer(struct refresh *refresh, const struct jax_plugin *plugin,
		      const struct pypi_page *page, const struct pypi_metadata *m)
{
	static const char *const copied[] = {"cuda_tested", "brings", "sm", "ptx", NULL};
	struct arena *arena = refresh->arena;
	struct fact_list keys = FACT_LIST_INIT(arena), facts = FACT_LIST_INIT(arena);
	struct framework_cuda cuda = {.series = ""};
	const struct metadata_need *cudnn = framework_need(&m->metadata, "cudnn", JAX_EXTRA, arena);
	const struct metadata_need *nccl = framework_need(&m->metadata, "nccl", JAX_EXTRA, arena);
	const char *version = m->file->version, *glibc = pypi_glibc(m->file, arena);
	struct fact *alike = ARENA_ARRAY(arena, 2, struct fact);
	struct offer offer = {.table = "jax",
			      .version = version,
			      .copied = copied,
			      .alike = alike,
			      .note = "",
			      .source = "pypi",
			      .url = m->file->url};

	framework_read_cuda(&m->metadata, JAX_EXTRA, arena, &cuda);
	if (!*cuda.series || !cudnn)
		return; /* without them the row would fit everything */
	alike[0] = (struct fact){.column = "cuda",
				 .cell = arena_printf(arena, ">=%s;<%s", cuda.series, cuda.next)};
	fact_add(&keys, FACT_NEW, "pip", jax_pip(plugin->extra, version, arena));
	fact_add(&facts, FACT_COMPARED, "python", pypi_pythons(page, version, arena));
	fact_add(&facts, FACT_NEW, "cuda", alike[0].cell);
	fact_add(&facts, FACT_COMPARED, "cudnn", jax_range(cudnn, arena));
	fact_add(&facts, FACT_NEW, "nccl", jax_range(nccl, arena));
	fact_addf(&facts, FACT_NEW, glibc, "glibc", ">=%s", glibc);
	fact_addf(&facts, FACT_NEW, version, "pip_cpu", "jax==%s", version);
	fact_add(&facts, FACT_NEW, "manylinux", framework_platform(m->file->platforms, arena));
	offer.keys = keys.list;
	offer.facts = facts.list;
	rows_offer(&refresh->rows, &offer);
}

/* The oldest release whose row takes the plugin from PyPI; older ones came from an index of their own. */
static const char *jax_oldest(const struct table *table, const char *extra, struct arena *arena)
{
	const char *oldest = NULL;

	for (size_t row = 0; row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");

		if (!*table_cell(table, row, "index") &&
		    strcmp(table_cell(table, row, "pip"), jax_pip(extra, version, arena)) == 0 &&
		    (!oldest || version_compare(version, oldest) < 0))
			oldest = version;
	}
	return oldest;
}

static int jax_refresh_plugin(struct refresh *refresh, const struct jax_plugin *plugin,
			      const struct pypi_page *page, const struct pypi_page *jax,
			      struct error *err)
{
	const struct table *table = catalog_table(refresh->rows.catalog, "jax");
	const char *const *versions = pypi_versions(page, pypi_fits_x86_64, refresh->arena);
	const char *oldest = table ? jax_oldest(table, plugin->extra, refresh->arena) : NULL;
	const struct pypi pypi = refresh_pypi(refresh);
	struct pypi_metadata *list =
		ARENA_ARRAY(refresh->arena, page->count + 1, struct pypi_metadata);
	size_t count = 0;

	for (; oldest && *versions; versions++)
		if (version_compare(*versions, oldest) >= 0 &&
		    pypi_find(jax, *versions, pypi_fits_x86_64))
			list[count++].file = pypi_find(page, *versions, pypi_fits_x86_64);
	if (pypi_metadata(&pypi, list, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (list[i].err.kind == ERROR_NONE)
			jax_offer(refresh, plugin, page, &list[i]);
	return pypi_metadata_error(list, count, err);
}

int refresh_jax(struct refresh *refresh, struct error *err)
{
	const char *names[ARRAY_LEN(jax_plugins) + 1] = {"jax"};
	const struct pypi pypi = refresh_pypi(refresh);
	struct pypi_page pages[ARRAY_LEN(names)];

	for (size_t i = 0; i < ARRAY_LEN(jax_plugins); i++)
		names[i + 1] = jax_plugins[i].package;
	if (pypi_pages(&pypi, names, ARRAY_LEN(names), pages, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (pages[i].err.kind != ERROR_NONE) {
			*err = pages[i].err;
			return -1;
		}
	}
	framework_look_aarch64(refresh, names[0], &pages[ARRAY_LEN(jax_plugins)]);
	for (size_t i = 0; i < ARRAY_LEN(jax_plugins); i++)
		if (jax_refresh_plugin(refresh, &jax_plugins[i], &pages[i + 1], &pages[0], err) < 0)
			return -1;
	return 0;
}

/* --- horovod -------------------------------------------------------------------------------- */

static bool horovod_is_source(const struct pypi_file *file)
{
	return !file->is_wheel && !*file->build;
}

static void horovod_offer(struct refresh *refresh, const struct pypi_file *file)
{
	static const char *const copied[] = {"tensorflow", "torch", "mxnet", "python",	"cmake",
					     "gcc",	   "flags", "nccl",  "openmpi", NULL};
	struct fact_list keys = FACT_LIST_INIT(refresh->arena),
			 facts = FACT_LIST_INIT(refresh->arena);
	const struct offer offer = {.table = "horovod",
				    .version = file->version,
				    .keys = keys.list,
				    .facts = facts.list,
				    .copied = copied,
				    .note = "",
				    .source = "pypi",
				    .url = file->url};

	fact_addf(&facts, FACT_NEW, file->version, "pip", "horovod==%s", file->version);
	fact_add(&facts, FACT_FILLS, "released", file->month);
	fact_add(&facts, FACT_FILLS, "download", file->url);
	fact_add(&facts, FACT_COMPARED, "sha256", file->sha256);
	rows_offer(&refresh->rows, &offer);
}

int refresh_horovod(struct refresh *refresh, struct error *err)
{
	static const char *const name = "horovod";
	const struct table *table = catalog_table(refresh->rows.catalog, name);
	const char *oldest = table ? rows_oldest(table, NULL) : NULL;
	const struct pypi pypi = refresh_pypi(refresh);
	const char *const *versions;
	struct pypi_page page;

	if (pypi_pages(&pypi, &name, 1, &page, err) < 0)
		return -1;
	if (page.err.kind != ERROR_NONE) {
		*err = page.err;
		return -1;
	}
	versions = pypi_versions(&page, horovod_is_source, refresh->arena);
	for (; oldest && *versions; versions++)
		if (version_compare(*versions, oldest) >= 0)
			horovod_offer(refresh, pypi_find(&page, *versions, horovod_is_source));
	return 0;
}
