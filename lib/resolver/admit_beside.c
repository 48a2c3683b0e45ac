/* SPDX-License-Identifier: MIT */
#include "resolver/admit_beside.h"

#include <stdlib.h>
#include <string.h>

static long beside_major(const char *version)
{
	return strtol(version, NULL, 10);
}

/* The values of one component, as all its wheels look at them. */
struct beside {
	const struct model *model;
	const struct units *units;
	enum component component;
	const struct domain *domain;
	size_t words;
	long *majors;	       /* per value */
	struct value **sorted; /* by version */
	uint64_t *built;      /* CUDA: a bit per value that a build of the wheel's version is for */
	const char *built_of; /* the wheel's version that `built` is of; NULL: none yet */
};

static struct beside beside_of(const struct model *model, const struct units *units,
			       enum component c)
{
	const struct domain *domain = &model->domains[c];
	struct beside b = {.model = model,
			   .units = units,
			   .component = c,
			   .domain = domain,
			   .words = domain->count / 64 + 1,
			   .majors = ARENA_ARRAY(model->arena, domain->count + 1, long),
			   .sorted = model_by_version(domain, model->arena)};

	b.built = ARENA_ARRAY(model->arena, b.words, uint64_t);
	for (size_t i = 0; i < domain->count; i++)
		b.majors[i] = beside_major(domain->values[i].version);
	return b;
}

/* Whether a request names the wheel's own build, so that it is no matter which others there are. */
static bool is_named_build(const struct beside *b, const struct value *wheel)
{
	for (size_t i = 0; i < b->units->count; i++)
		if (unit_names_build(&b->units->list[i], wheel, b->model->arena))
			return true;
	return false;
}

/* Makes `built`. Builds of one version stand together in the domain. */
static void mark_builds(struct beside *b, const struct value *wheel)
{
	const struct domain *wheels = &b->model->domains[wheel->component];
	const struct value *build = wheel, *end = wheels->values + wheels->count;

	if (b->built_of == wheel->version)
		return;
	memset(b->built, 0, b->words * sizeof(*b->built));
	while (build > wheels->values && strcmp(build[-1].version, wheel->version) == 0)
		build--;
	for (; build < end && strcmp(build->version, wheel->version) == 0; build++)
		if (build->brings[COMPONENT_CUDA])
			model_mark_series(b->sorted, b->domain->count,
					  build->brings[COMPONENT_CUDA], b->built);
	b->built_of = wheel->version;
}

/*
 * Whether the wheel, which brings a library of this major version, goes with a value that it does not ask for:
 * of libraries another major version; of CUDA, where there is no build for it or this one is asked for, a toolkit of the wheel's own major
 * version, and a newer one where nothing is compiled against the wheel. A newer one's driver runs it too.
 */
static bool goes_beside(const struct beside *b, bool is_named, long brought, size_t i)
{
	if (b->component != COMPONENT_CUDA)
		return b->majors[i] != brought;
	if (b->majors[i] < brought || (b->majors[i] > brought && b->model->compiles))
		return false;
	return is_named || !bit_is_set(b->built, i);
}

static void admit_beside(struct beside *b, struct value *wheel)
{
	enum component c = b->component;
	struct admitted *own;
	uint64_t *bits;
	long brought;
	bool named;

	if (!wheel->brings[c] || !wheel->admits[c])
		return;
	brought = beside_major(wheel->brings[c]);
	named = c == COMPONENT_CUDA && is_named_build(b, wheel);
	if (c == COMPONENT_CUDA)
		mark_builds(b, wheel);
	bits = ARENA_ARRAY(b->model->arena, b->words, uint64_t);
	memcpy(bits, admitted_bits(wheel->admits[c]), b->words * sizeof(*bits));
	for (size_t i = 0; i < b->domain->count; i++)
		if (!bit_is_set(bits, i) && goes_beside(b, named, brought, i))
			bits[i / 64] |= 1ULL << (i % 64);
	own = ARENA_NEW(b->model->arena, struct admitted);
	*own = *wheel->admits[c];
	own->bits = bits;
	wheel->admits[c] = own;
}

bool value_takes_nvcc(const struct value *value)
{
	return (value->needs[COMPONENT_CUDA] && *value_cell(value, "sdist")) ||
	       *value_cell(value, "jit");
}

/* Whether requests name something that is compiled against a framework, and with the same CUDA. */
static bool asks_to_compile(const struct model *model, uint32_t asked)
{
	if (asked & COMPONENT_BIT(COMPONENT_HOROVOD))
		return true;
	for (int c = COMPONENT_BESIDE_FIRST; c <= COMPONENT_BESIDE_LAST; c++)
		for (size_t i = 0; i < model->domains[c].count && (asked & COMPONENT_BIT(c)); i++)
			if (value_takes_nvcc(&model->domains[c].values[i]))
				return true;
	return false;
}

void model_admit_beside(struct model *model, const struct units *units)
{
	uint32_t asked = units->asked;

	model->compiles = asks_to_compile(model, asked);
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		struct beside b;

		if (!(asked & COMPONENT_BIT(c)))
			continue;
		b = beside_of(model, units, (enum component)c);
		for (int wheel = COMPONENT_TENSORFLOW; wheel <= COMPONENT_MXNET; wheel++)
			for (size_t i = 0; i < model->domains[wheel].count; i++)
				admit_beside(&b, &model->domains[wheel].values[i]);
	}
}
