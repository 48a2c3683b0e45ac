/* SPDX-License-Identifier: MIT */
#include "upstream/frameworks.h"

#include "core/str.h"
#include "plan/version.h"

#include <stdlib.h>
#include <string.h>

/* What a wheel's METADATA says of CUDA and its libraries; "" where it says nothing. */
struct framework_cuda {
	const char *series;	  /* "13.2" */
	const char *major, *next; /* "13", "14" */
	const char *cudnn, *nccl; /* fixed versions */
	const char *cudnn_least;  /* "9.26", the lower bound of a range or of the fixed version */
	const char *cudnn_next;	  /* "10" */
};

/* One framework: how its rows are called, and what a new row copies. */
struct framework {
	const char *name;  /* of the package and of the table */
	const char *extra; /* of pip that brings CUDA, or "" */
	const char *const *copied;
	const char *note;
};

static const char *const torch_copied[] = {"nccl", "sm", "ptx", "compiler", "abi", NULL};
static const char *const tensorflow_copied[] = {"sm", "ptx", "compiler", "abi", NULL};

static const struct framework torch = {
	"torch", "", torch_copied, "default on PyPI; wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels"};
static const struct framework tensorflow = {"tensorflow", "and-cuda", tensorflow_copied,
					    "pip wheel pulls CUDA/cuDNN/NCCL as nvidia-* wheels"};

/* "13" of "13.2.2" */
static const char *framework_major(const char *version, struct arena *arena)
{
	return arena_strndup(arena, version, strcspn(version, "."));
}

static const char *framework_series(const char *version, struct arena *arena)
{
	size_t major = strcspn(version, "."), minor;

	if (!version[major])
		return version;
	minor = strcspn(version + major + 1, ".");
	return arena_strndup(arena, version, major + 1 + minor);
}

static const char *framework_next(const char *version, struct arena *arena)
{
	return *version ? arena_printf(arena, "%ld", strtol(version, NULL, 10) + 1) : "";
}

/* The need of nvidia-NAME-cuMAJOR for a major of 11 and above, or of nvidia-NAME. */
static const struct metadata_need *framework_need(const struct metadata *metadata, const char *name,
						  const char *extra, struct arena *arena)
{
	const struct metadata_need *need =
		metadata_need(metadata, arena_printf(arena, "nvidia-%s", name), extra);

	for (int major = 11; !need && major < 30; major++)
		need = metadata_need(metadata, arena_printf(arena, "nvidia-%s-cu%d", name, major),
				     extra);
	return need;
}

static void framework_read_cuda(const struct metadata *metadata, const char *extra,
				struct arena *arena, struct framework_cuda *cuda)
{
	const struct metadata_need *toolkit = metadata_need(metadata, "cuda-toolkit", extra);
	const struct metadata_need *cudnn = framework_need(metadata, "cudnn", extra, arena);
	const struct metadata_need *nccl = framework_need(metadata, "nccl", extra, arena);
	const char *least;

	if (!toolkit)
		toolkit = framework_need(metadata, "cuda-runtime", extra, arena);
	least = toolkit ? metadata_least(toolkit, arena) : "";
	cuda->series = framework_series(least, arena);
	cuda->major = framework_major(least, arena);
	cuda->next = framework_next(cuda->major, arena);
	cuda->cudnn = cudnn ? metadata_pin(cudnn, arena) : "";
	cuda->nccl = nccl ? metadata_pin(nccl, arena) : "";
	cuda->cudnn_least = cudnn ? framework_series(metadata_least(cudnn, arena), arena) : "";
	cuda->cudnn_next = framework_next(framework_major(cuda->cudnn_least, arena), arena);
}

/* "cuda==13.2;cudnn==A;nccl==B" of what is fixed; CUDA by its series, where cuDNN comes too */
static const char *framework_brings(const struct framework_cuda *cuda, struct arena *arena)
{
	const char *runtime = *cuda->cudnn && *cuda->series
				      ? arena_printf(arena, "cuda==%s;cudnn==", cuda->series)
			      : *cuda->cudnn ? "cudnn=="
					     : "";

	return arena_printf(arena, "%s%s%s%s%s", runtime, cuda->cudnn,
			    *cuda->cudnn && *cuda->nccl ? ";" : "", *cuda->nccl ? "nccl==" : "",
			    cuda->nccl);
}

/* "cu132" */
static const char *framework_build(const struct framework_cuda *cuda, struct arena *arena)
{
	const char *dot = strchr(cuda->series, '.');

	return dot ? arena_printf(arena, "cu%.*s%s", (int)(dot - cuda->series), cuda->series,
				  dot + 1)
		   : "";
}

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

/* The rows that a new one may be like: of the same index, else of the same CUDA, else any of PyPI's. */
static const struct fact *framework_alike(const struct table *table, const char *index,
					  const char *cuda, struct arena *arena)
{
	struct fact *cells = ARENA_ARRAY(arena, 2, struct fact);

	cells[0] = (struct fact){.column = "index", .cell = index};
	if (rows_newest(table, cells) >= 0)
		return cells;
	cells[0] = (struct fact){.column = "cuda", .cell = cuda};
	if (rows_newest(table, cells) >= 0)
		return cells;
	cells[0] = (struct fact){.column = NULL};
	return cells;
}

/* "manylinux_2_28" of "manylinux_2_28_x86_64.other_x86_64" */
static const char *framework_platform(const char *platforms, struct arena *arena)
{
	static const char processor[] = "_x86_64", usual[] = "manylinux2014";
	size_t length = strcspn(platforms, "."), cut = sizeof(processor) - 1;

	if (strstr(platforms, usual))
		return usual;
	if (length > cut && strncmp(platforms + length - cut, processor, cut) == 0)
		length -= cut;
	return arena_strndup(arena, platforms, length);
}

/* The cells that METADATA and the wheels' names give. */
static void framework_facts(const struct pypi_page *page, const struct pypi_metadata *m,
			    const struct framework_cuda *cuda, struct fact_list *facts)
{
	struct arena *arena = facts->arena;
	const char *glibc = pypi_glibc(m->file, arena);

	fact_add(facts, FACT_COMPARED, "python", pypi_pythons(page, m->file->version, arena));
	fact_addf(facts, FACT_NEW, cuda->series, "cuda", ">=%s;<%s", cuda->series, cuda->next);
	fact_addf(facts, FACT_NEW, cuda->series, "cuda_tested", "==%s.*", cuda->series);
	fact_addf(facts, FACT_NEW, cuda->cudnn_least, "cudnn", ">=%s;<%s", cuda->cudnn_least,
		  cuda->cudnn_next);
	if (*cuda->cudnn)
		fact_addf(facts, FACT_NEW, cuda->cudnn, "cudnn_tested", "==%s", cuda->cudnn);
	else
		fact_addf(facts, FACT_NEW, cuda->cudnn_least, "cudnn_tested", "==%s.*",
			  cuda->cudnn_least);
	fact_add(facts, FACT_FILLS, "nccl_bundled", cuda->nccl);
	fact_add(facts, FACT_COMPARED, "brings", framework_brings(cuda, arena));
	fact_addf(facts, FACT_NEW, glibc, "glibc", ">=%s", glibc);
	fact_add(facts, FACT_NEW, "manylinux", framework_platform(m->file->platforms, arena));
}

static void framework_new_keys(const struct framework *f, const struct pypi_metadata *m,
			       const struct framework_cuda *cuda, struct fact_list *keys)
{
	const char *build = framework_build(cuda, keys->arena);
	bool has_own_index = !*f->extra;

	fact_addf(keys, FACT_NEW, f->name, "pip", *f->extra ? "%s[%s]==%s" : "%s%s==%s", f->name,
		  f->extra, m->file->version);
	if (has_own_index)
		fact_addf(keys, FACT_NEW, build, "index", "https://download.pytorch.org/whl/%s",
			  build);
}

static void framework_offer(struct refresh *refresh, const struct framework *f,
			    const struct pypi_page *page, const struct pypi_metadata *m,
			    ssize_t row)
{
	const struct table *table = catalog_table(refresh->rows.catalog, f->name);
	struct fact_list keys = FACT_LIST_INIT(refresh->arena),
			 facts = FACT_LIST_INIT(refresh->arena);
	struct framework_cuda cuda = {.series = ""};
	struct offer offer = {.table = f->name,
			      .version = m->file->version,
			      .copied = f->copied,
			      .note = f->note,
			      .source = "pypi",
			      .url = m->file->url};

	framework_read_cuda(&m->metadata, f->extra, refresh->arena, &cuda);
	framework_facts(page, m, &cuda, &facts);
	if (row >= 0) {
		fact_add(&keys, FACT_NEW, "pip", table_cell(table, (size_t)row, "pip"));
		fact_add(&keys, FACT_NEW, "index", table_cell(table, (size_t)row, "index"));
	} else if (*cuda.series) {
		framework_new_keys(f, m, &cuda, &keys);
		if (!*f->extra)
			fact_add(&facts, FACT_NEW, "on_pypi", "yes");
		offer.alike = framework_alike(
			table, keys.count > 1 ? keys.list[1].cell : "",
			arena_printf(refresh->arena, ">=%s;<%s", cuda.series, cuda.next),
			refresh->arena);
	} else {
		return; /* without its CUDA the row would fit everything */
	}
	offer.keys = keys.list;
	offer.facts = facts.list;
	rows_offer(&refresh->rows, &offer);
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
	struct error first = {0};
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
	for (size_t i = 0; i < count; i++) {
		if (list[i].err.kind != ERROR_NONE)
			refresh_keep_error(&first, &list[i].err);
		else
			framework_offer(refresh, f, &page, &list[i], rows[i]);
	}
	*err = first.kind != ERROR_NONE ? first : *err;
	return first.kind != ERROR_NONE ? -1 : 0;
}

int refresh_torch(struct refresh *refresh, struct error *err)
{
	return framework_refresh(refresh, &torch, err);
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
	struct error first = {0};
	struct pypi_metadata *list =
		ARENA_ARRAY(refresh->arena, page->count + 1, struct pypi_metadata);
	size_t count = 0;

	for (; oldest && *versions; versions++)
		if (version_compare(*versions, oldest) >= 0 &&
		    pypi_find(jax, *versions, pypi_fits_x86_64))
			list[count++].file = pypi_find(page, *versions, pypi_fits_x86_64);
	if (pypi_metadata(&pypi, list, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (list[i].err.kind != ERROR_NONE)
			refresh_keep_error(&first, &list[i].err);
		else
			jax_offer(refresh, plugin, page, &list[i]);
	}
	*err = first.kind != ERROR_NONE ? first : *err;
	return first.kind != ERROR_NONE ? -1 : 0;
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
	return !file->is_wheel;
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
