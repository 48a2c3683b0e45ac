/* SPDX-License-Identifier: MIT */
#include "upstream/python/framework.h"

#include "core/str.h"

#include <stdlib.h>
#include <string.h>

/* --- what a wheel says ---------------------------------------------------------------------- */

const char *framework_major(const char *version, struct arena *arena)
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

const char *framework_next(const char *version, struct arena *arena)
{
	return *version ? arena_printf(arena, "%ld", strtol(version, NULL, 10) + 1) : "";
}

const struct metadata_need *framework_need(const struct metadata *metadata, const char *name,
					   const char *extra, struct arena *arena)
{
	const struct metadata_need *need =
		metadata_need(metadata, arena_printf(arena, "nvidia-%s", name), extra);

	for (int major = 11; !need && major < 30; major++)
		need = metadata_need(metadata, arena_printf(arena, "nvidia-%s-cu%d", name, major),
				     extra);
	return need;
}

void framework_read_cuda(const struct metadata *metadata, const char *extra, struct arena *arena,
			 struct framework_cuda *cuda)
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

/* --- the row of a wheel --------------------------------------------------------------------- */

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

const char *framework_platform(const char *platforms, struct arena *arena)
{
	static const char processor[] = "_x86_64", usual[] = "manylinux2014";
	size_t length = strcspn(platforms, "."), cut = sizeof(processor) - 1;

	if (strcmp(platforms, "linux_x86_64") == 0)
		return platforms; /* says nothing of glibc */
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

static void framework_add_index(struct fact_list *keys, const char *build)
{
	fact_addf(keys, FACT_NEW, build, "index", PYTORCH_INDEX "/%s", build);
}

static void framework_new_keys(const struct framework *f, const struct pypi_metadata *m,
			       const struct framework_cuda *cuda, struct fact_list *keys)
{
	const char *build = *f->build ? f->build : framework_build(cuda, keys->arena);
	bool has_own_index = !*f->extra;

	if (*f->build) {
		fact_addf(keys, FACT_NEW, f->name, "pip", "%s==%s+%s", f->name, m->file->version,
			  build);
		framework_add_index(keys, build);
		return;
	}
	fact_addf(keys, FACT_NEW, f->name, "pip", *f->extra ? "%s[%s]==%s" : "%s%s==%s", f->name,
		  f->extra, m->file->version);
	if (has_own_index)
		framework_add_index(keys, build);
}

void framework_offer(struct refresh *refresh, const struct framework *f,
		     const struct pypi_page *page, const struct pypi_metadata *m, ssize_t row)
{
	const struct table *table = catalog_table(refresh->rows.catalog, f->name);
	struct fact_list keys = FACT_LIST_INIT(refresh->arena),
			 facts = FACT_LIST_INIT(refresh->arena);
	struct framework_cuda cuda = {.series = ""};
	struct offer offer = {.table = f->name,
			      .version = m->file->version,
			      .copied = f->copied,
			      .note = f->note,
			      .source = *f->build ? "pytorch-index" : "pypi",
			      .url = m->file->url};

	framework_read_cuda(&m->metadata, f->extra, refresh->arena, &cuda);
	framework_facts(page, m, &cuda, &facts);
	if (row >= 0) {
		fact_add(&keys, FACT_NEW, "pip", table_cell(table, (size_t)row, "pip"));
		fact_add(&keys, FACT_NEW, "index", table_cell(table, (size_t)row, "index"));
	} else if (*cuda.series) {
		framework_new_keys(f, m, &cuda, &keys);
		if (!*f->extra && !*f->build)
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
