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

bool component_is_compiled(const struct model *model, enum component c)
{
	if (c == COMPONENT_HOROVOD)
		return true;
	if (!(COMPONENT_BIT(c) & COMPONENTS_BESIDE_TORCH))
		return false;
	for (size_t i = 0; i < model->domains[c].count; i++)
		if (value_takes_nvcc(&model->domains[c].values[i]))
			return true;
	return false;
}

static void admit_beside_wheels(struct model *model, const struct units *units, enum component c)
{
	struct beside b;

	if (!(units->asked & COMPONENT_BIT(c)))
		return;
	b = beside_of(model, units, c);
	for (int wheel = COMPONENT_TENSORFLOW; wheel <= COMPONENT_MXNET; wheel++)
		for (size_t i = 0; i < model->domains[wheel].count; i++)
			admit_beside(&b, &model->domains[wheel].values[i]);
}

void model_admit_beside(struct model *model, const struct units *units)
{
	for (int c = 0; c < COMPONENT_COUNT; c++)
		model->compiles |= (units->asked & COMPONENT_BIT(c)) &&
				   component_is_compiled(model, (enum component)c);
	for (int c = 0; c < COMPONENT_COUNT; c++)
		admit_beside_wheels(model, units, (enum component)c);
}

/* The values of a wheel with an array `admits` each of their own. */
static struct value *copy_wheels(const struct domain *wheels, struct arena *arena)
{
	struct value *values = ARENA_ARRAY(arena, wheels->count + 1, struct value);

	for (size_t i = 0; i < wheels->count; i++) {
		values[i] = wheels->values[i];
		values[i].admits = ARENA_ARRAY(arena, COMPONENT_COUNT, struct admitted *);
		memcpy(values[i].admits, wheels->values[i].admits,
		       COMPONENT_COUNT * sizeof(struct admitted *));
	}
	return values;
}

struct model *model_uncompiled(const struct model *model, const struct units *units)
{
	struct model *own = ARENA_NEW(model->arena, struct model);

	*own = *model;
	own->compiles = false;
	for (int c = COMPONENT_TENSORFLOW; c <= COMPONENT_MXNET; c++)
		own->domains[c].values = copy_wheels(&model->domains[c], model->arena);
	admit_beside_wheels(own, units, COMPONENT_CUDA);
	return own;
}
