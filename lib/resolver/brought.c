/* SPDX-License-Identifier: MIT */
#include "resolver/brought.h"

#include "resolver/admit_beside.h"

#include <stdlib.h>
#include <string.h>

/* The libraries of a newer driver come with NVIDIA's images and packages only. */
static bool needs_compat(const struct search *s, const struct value *cuda)
{
	for (size_t i = 0; cuda && i < s->units->count; i++) {
		const uint8_t *admits = s->units->list[i].admits[COMPONENT_CUDA];

		if ((s->active >> i & 1) && admits && admits[cuda->index] == ADMIT_COMPAT)
			return true;
	}
	return false;
}

/* A package that is built beside torch by nvcc, or that compiles with it at run time. */
static bool compiles_cuda(const struct search *s)
{
	for (int c = COMPONENT_BESIDE_FIRST; c <= COMPONENT_BESIDE_LAST; c++) {
		const struct value *value = s->now.chosen[c];

		if (value && value_takes_nvcc(value))
			return true;
	}
	return false;
}

/* Whether a request names the component, of those that count in this search: a conflict is some of them. */
static bool is_asked(const struct search *s, enum component component)
{
	if (s->named & COMPONENT_BIT(component))
		return true;
	if (!(s->units->asked & COMPONENT_BIT(component)))
		return false;
	for (size_t i = 0; i < s->units->count; i++)
		if ((s->active >> i & 1) && s->units->list[i].component == component)
			return true;
	return false;
}

/*
 * torch for aarch64 before 2.9 has NCCL inside, without a header to compile with. Source: pytorch/pytorch issue 160162;
 * the wheels of NCCL for aarch64 have nccl.h.
 */
static bool hides_nccl(const struct search *s)
{
	const struct value *torch = s->now.chosen[COMPONENT_TORCH];

	return s->model->catalog->arch && torch && version_compare(torch->version, "2.9") < 0;
}

/*
 * Horovod is compiled against the system's CUDA, and against the NCCL of a wheel: a process that imports the framework has
 * that one, whatever Horovod was built with, since both are libnccl.so.2.
 */
static bool needs_system(const struct search *s, enum component component)
{
	if (s->model->cpu || is_asked(s, component))
		return true;
	if (!s->now.chosen[COMPONENT_HOROVOD])
		return false;
	return component == COMPONENT_CUDA || (component == COMPONENT_NCCL && hides_nccl(s));
}

bool takes_system_cuda(const struct search *s)
{
	return !s->model->cpu &&
	       (is_asked(s, COMPONENT_CUDA) || (s->parts & COMPONENT_BIT(COMPONENT_HOROVOD)));
}

static bool asks_for_range(const struct value *wheel)
{
	return wheel->brings_range & COMPONENT_BIT(COMPONENT_CUDA);
}

/* The CUDA of which series the wheel `c` of the stack runs on: its own, or what other wheels bring. NULL: the system's. */
static const char *wheel_series(const struct search *s, enum component c)
{
	const struct value *wheel = s->now.chosen[c], *torch = s->now.chosen[COMPONENT_TORCH],
			   *tensorflow = s->now.chosen[COMPONENT_TENSORFLOW];
	const char *series = wheel->brings[COMPONENT_CUDA];

	if (!series)
		return NULL;
	if (c == COMPONENT_TENSORFLOW && torch && asks_for_range(wheel))
		return torch->brings[COMPONENT_CUDA];
	/* pip installs TensorFlow last, and torch runs on a newer CUDA of its major version */
	if (c == COMPONENT_TORCH && tensorflow && !asks_for_range(tensorflow) &&
	    tensorflow->brings[COMPONENT_CUDA] &&
	    version_compare(series, tensorflow->brings[COMPONENT_CUDA]) < 0)
		return tensorflow->brings[COMPONENT_CUDA];
	return series;
}

/*
 * All wheels have a CUDA of their own, and the stack's is one of that series. pip keeps the one that is there for a wheel
 * that asks for a range, and replaces it for one that names another.
 */
static const struct value *brought_cuda(const struct search *s, const struct value *cuda)
{
	const struct value *first = NULL, *range = NULL;

	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const char *series;

		/* JAX keeps the CUDA of the wheels that are installed before it */
		if (!wheel || ((first || range) && c == COMPONENT_JAX))
			continue;
		series = wheel_series(s, (enum component)c);
		if (!cuda || !series || !version_in_series(cuda->version, series))
			return NULL;
		if (asks_for_range(wheel))
			range = wheel;
		else if (!first)
			first = wheel;
	}
	return first ? first : range;
}

/* An NCCL that is built from its source in the place of a wheel's. */
static bool compiles_nccl(const struct search *s)
{
	const struct value *nccl = s->now.chosen[COMPONENT_NCCL];
	const char *ignored;

	return nccl && strcmp(nccl->kind, "source") == 0 &&
	       !brought_by(s, COMPONENT_NCCL, &ignored);
}

bool brings_cuda(const struct search *s, const struct value *cuda)
{
	return !needs_system(s, COMPONENT_CUDA) && !needs_compat(s, cuda) && !compiles_cuda(s) &&
	       !compiles_nccl(s) && brought_cuda(s, cuda);
}

/* Whether pip replaces what `first` brings when it installs `last`. A range keeps what it admits. */
static bool replaces(const struct value *last, const struct value *first, enum component component)
{
	const struct needs *needs = last->needs[component];

	return last->brings[component] &&
	       (!(last->brings_range & COMPONENT_BIT(component)) ||
		(needs && !needs_admit(needs, first->brings[component])));
}

/* NVIDIA's wheel of this release for the CUDA of this series, in pip's words; NULL: PyPI has none. */
static const char *nvidia_wheel(const struct search *s, const struct value *library,
				const char *series)
{
	const struct table *table = catalog_table(s->model->catalog, "wheel");
	const char *name = component_names[library->component];

	for (size_t row = 0; table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, "component"), name) == 0 &&
		    strcmp(table_cell(table, row, "version"), library->version) == 0 &&
		    version_in_series(series, table_cell(table, row, "built")))
			return table_cell(table, row, "pip");
	return NULL;
}

const char *brought_over(const struct search *s, enum component component)
{
	const struct value *torch = s->now.chosen[COMPONENT_TORCH],
			   *library = s->now.chosen[component];
	const char *outside = s->model->catalog->arch ? "2.9" : "2.1";
	const char *brings = torch ? torch->brings[component] : NULL;

	if ((component != COMPONENT_CUDNN && component != COMPONENT_NCCL) || s->model->cpu ||
	    !library || !brings || !torch->brings[COMPONENT_CUDA] || !is_asked(s, component) ||
	    s->now.chosen[COMPONENT_TENSORFLOW] || s->now.chosen[COMPONENT_JAX] ||
	    s->now.chosen[COMPONENT_MXNET] || version_compare(torch->version, outside) < 0 ||
	    version_in_series(library->version, brings) ||
	    version_compare(library->version, brings) < 0 ||
	    strtol(library->version, NULL, 10) != strtol(brings, NULL, 10))
		return NULL;
	return nvidia_wheel(s, library, torch->brings[COMPONENT_CUDA]);
}

const struct value *brought_by(const struct search *s, enum component component,
			       const char **version)
{
	const struct value *cuda = s->now.chosen[COMPONENT_CUDA], *first = NULL, *range = NULL;

	if (component == COMPONENT_CUDA) {
		if (!brings_cuda(s, cuda))
			return NULL;
		*version = cuda->version;
		return brought_cuda(s, cuda);
	}
	if (brought_over(s, component)) {
		*version = s->now.chosen[component]->version;
		return s->now.chosen[COMPONENT_TORCH];
	}
	if (needs_system(s, component))
		return NULL;
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++) {
		const struct value *wheel = s->now.chosen[c];
		const char *brings = wheel ? wheel->brings[component] : NULL;

		if (wheel && !brings && wheel->needs[component])
			return NULL;
		if (brings && (wheel->brings_range & COMPONENT_BIT(component)))
			range = range ? range : wheel;
		else if (brings && !first)
			first = wheel;
	}
	if (!first || (range && replaces(range, first, component)))
		first = range;
	if (first)
		*version = first->brings[component];
	return first;
}

/* Whether the wheel can use the library that the other wheel brings. */
static bool takes(const struct value *wheel, const struct value *other, enum component component)
{
	const char *brings = other->brings[component];

	return !brings || !wheel->needs[component] || needs_admit(wheel->needs[component], brings);
}

bool wheels_clash(const struct value *last, const struct value *first)
{
	uint32_t others = COMPONENT_BIT(COMPONENT_TENSORFLOW) | COMPONENT_BIT(COMPONENT_TORCH);
	const struct needs *needs = first->needs[COMPONENT_CUDNN];

	if (last->component == COMPONENT_JAX && (COMPONENT_BIT(first->component) & others))
		return !takes(last, first, COMPONENT_NCCL) || !takes(last, first, COMPONENT_CUDNN);
	if (last->component != COMPONENT_TENSORFLOW || first->component != COMPONENT_TORCH ||
	    !last->brings[COMPONENT_NCCL] || !first->brings[COMPONENT_NCCL])
		return false;
	return (replaces(last, first, COMPONENT_NCCL) &&
		version_compare(last->brings[COMPONENT_NCCL], first->brings[COMPONENT_NCCL]) < 0) ||
	       (needs && replaces(last, first, COMPONENT_CUDNN) &&
		!needs_admit(needs, last->brings[COMPONENT_CUDNN]));
}
