/* SPDX-License-Identifier: MIT */
#include "resolver/search/conflict.h"

#include "resolver/rules/rule_gpu.h"

#include "core/str.h"
#include "resolver/admit_beside.h"
#include "resolver/allow.h"
#include "resolver/rules/breach.h"
#include "resolver/search/known.h"
#include "resolver/search/pivot.h"
#include "resolver/rules/rules.h"
#include "resolver/explain/explain.h"
#include "resolver/search/suggest.h"

#include <string.h>

uint32_t stack_parts(const struct model *model, const struct units *units, uint64_t active)
{
	uint32_t parts = COMPONENT_BIT(COMPONENT_OS) | COMPONENT_BIT(COMPONENT_GLIBC) |
			 COMPONENT_BIT(COMPONENT_PYTHON) | COMPONENT_BIT(COMPONENT_GCC) |
			 COMPONENT_BIT(COMPONENT_OPENMPI);
	bool range = false, pin = false;

	if (!model->cpu)
		parts |= COMPONENT_BIT(COMPONENT_CUDA) | COMPONENT_BIT(COMPONENT_CUDNN) |
			 COMPONENT_BIT(COMPONENT_NCCL);
	for (size_t i = 0; i < units->count; i++) {
		const struct unit *unit = &units->list[i];

		if (!(active & UNIT_BIT(i)))
			continue;
		if (COMPONENT_BIT(unit->component) & COMPONENTS_WHERE_ASKED)
			parts |= COMPONENT_BIT(unit->component);
		range |= unit->component == COMPONENT_DRIVER && !unit->is_pin &&
			 unit->req.clause_count;
		pin |= unit->component == COMPONENT_DRIVER && unit->is_pin;
	}
	/* a host's driver needs no search; a driver that may be chosen or that conflicts does */
	if ((range || (model->has_driver_rule && !model->cpu)) && !pin)
		parts |= COMPONENT_BIT(COMPONENT_DRIVER);
	return components_with_bases(parts);
}

/* Both are requests, or both are of one host. */
static bool belong_together(const struct unit *gpu, const struct unit *driver)
{
	return !gpu->on == !driver->on && unit_meets(gpu, driver);
}

/* Why an active driver that belongs to the GPU does not drive it, or NULL. */
static const char *find_undriven(const struct search *s, uint64_t active, const struct unit *gpu)
{
	const char *refusal = NULL;

	for (size_t i = 0; i < s->units->count && !refusal; i++) {
		const struct unit *driver = &s->units->list[i];

		if ((active & UNIT_BIT(i)) && driver->driver && belong_together(gpu, driver))
			refusal = gpu_refuses_driver(s->model, gpu, driver->driver);
	}
	return refusal;
}

const char *find_unusable(const struct search *s, uint64_t active, const struct unit **gpu,
			  const char **id)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const char *sentence = NULL;

		*gpu = &s->units->list[i];
		if (!(active & UNIT_BIT(i)) || !(*gpu)->sm)
			continue;
		*id = allow_rule_ids[RULE_ARCH];
		if (!allow_has(s->model, RULE_ARCH))
			sentence = gpu_refuses_recipes(s->model, *gpu);
		if (sentence)
			return sentence;
		*id = allow_rule_ids[RULE_GPU_DRIVER];
		if (!allow_has(s->model, RULE_GPU_DRIVER))
			sentence = find_undriven(s, active, *gpu);
		if (sentence)
			return sentence;
	}
	return NULL;
}

bool pins_agree(struct search *s, uint64_t active)
{
	const struct unit *gpu;
	const char *id;

	if (find_unusable(s, active, &gpu, &id))
		return false;
	for (size_t i = 0; i < s->units->count; i++)
		for (size_t j = 0; j < s->units->count; j++) {
			const struct unit *pin = &s->units->list[i], *range = &s->units->list[j];

			if ((active & UNIT_BIT(i)) && (active & UNIT_BIT(j)) && pin->driver &&
			    range->component == COMPONENT_DRIVER && !range->is_pin &&
			    !requirement_admits_series(&range->req, pin->driver))
				return false;
		}
	s->active = active;
	return !rules_refuse_pins(s);
}

bool units_work(struct search *s, uint64_t active)
{
	s->active = active;
	s->parts = stack_parts(s->model, s->units, active);
	return pins_agree(s, active) && search_run(s);
}

/* Requests that do not ask for GPUs get a stack without them, unless the accelerator is cuda. */
static bool is_for_cpus(const struct search *s, uint64_t active)
{
	for (size_t i = 0; i < s->units->count; i++)
		if ((active & UNIT_BIT(i)) && (COMPONENT_BIT(s->units->list[i].component) &
					       (COMPONENTS_GPU | COMPONENTS_PIP)))
			return false;
	return s->units->is_auto && active;
}

/*
 * Forward compatibility is for GPUs that are known to have it, so not for a driver by itself; but a host's driver
 * is never without that host's GPUs.
 */
static bool conflict_has_gpu(const struct search *s, uint64_t active)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if ((active & UNIT_BIT(i)) && unit->is_pin &&
		    (unit->component == COMPONENT_GPU || (unit->on && unit->compat)))
			return true;
	}
	return false;
}

/*
 * The search for these units: where none of them is compiled against a framework, what others ask of its CUDA does
 * not count.
 */
static struct search *search_for(struct search *s, uint64_t active)
{
	struct search *own = s->uncompiled;

	if (!s->model->compiles)
		return s;
	for (size_t i = 0; i < s->units->count; i++)
		if ((active & UNIT_BIT(i)) &&
		    component_is_compiled(s->model, s->units->list[i].component))
			return s;
	if (!own) {
		own = s->uncompiled = ARENA_NEW(s->model->arena, struct search);
		search_init(own, model_uncompiled(s->model, s->units), s->units, s->parts);
	}
	own->units = s->units;
	own->level = s->level;
	own->waived = s->waived;
	own->budget = s->budget;
	return own;
}

static bool can_work(struct search *whole, uint64_t active)
{
	struct search *s = search_for(whole, active);
	enum search_level level = s->level;
	bool works;

	if (level == LEVEL_COMPAT && !conflict_has_gpu(s, active))
		s->level = LEVEL_COMPAT - 1;
	s->is_unranked = true;
	s->active = active;
	s->parts = stack_parts(s->model, s->units, active);
	if (is_for_cpus(s, active))
		s->parts &= ~COMPONENTS_GPU;
	works = pins_agree(s, active) && search_run(s);
	s->is_unranked = false;
	s->level = level;
	return works;
}

/* Looks for one or two units that have no stack: most conflicts are that small. */
static uint64_t small_set(struct search *s)
{
	for (size_t i = 0; i < s->units->count; i++)
		if (!can_work(s, UNIT_BIT(i)))
			return UNIT_BIT(i);
	for (size_t i = 0; i < s->units->count; i++)
		for (size_t j = i + 1; j < s->units->count; j++)
			if (!can_work(s, UNIT_BIT(i) | UNIT_BIT(j)))
				return UNIT_BIT(i) | UNIT_BIT(j);
	return 0;
}

/* Whether the units of the set have a stack when no other GPU forbids forward compatibility. */
static bool works_apart(struct search *s, uint64_t set)
{
	const struct units *all = s->units;
	struct units *own = ARENA_NEW(s->model->arena, struct units);
	enum search_level level = s->level;
	bool works;

	*own = *all;
	own->count = 0;
	for (size_t i = 0; i < all->count; i++)
		if (set & UNIT_BIT(i))
			own->list[own->count++] = all->list[i];
	units_apply(s->model, own);
	s->units = own;
	s->level = LEVEL_COMPAT;
	works = own->compat && can_work(s, units_all(s->units));
	s->level = level;
	s->units = all;
	return works;
}

/*
 * Adds a GPU outside the set if only that GPU forbids forward compatibility: it is part of the
 * conflict.
 */
static uint64_t with_forbidding_gpu(struct search *s, uint64_t set)
{
	if (s->units->compat || !works_apart(s, set))
		return set;
	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *unit = &s->units->list[i];

		if (unit->is_pin && unit->component == COMPONENT_GPU && !(set & UNIT_BIT(i)) &&
		    !works_apart(s, set | UNIT_BIT(i)))
			return set | UNIT_BIT(i);
	}
	return set;
}

static uint64_t smallest_set(struct search *s)
{
	uint64_t set;

	if (!can_work(s, 0))
		return 0;
	set = small_set(s);
	if (set)
		return set;
	set = units_all(s->units);
	for (size_t i = 0; i < s->units->count; i++)
		if (!can_work(s, set & ~UNIT_BIT(i)))
			set &= ~UNIT_BIT(i);
	return set;
}

/*
 * Of a GPU and drivers that do not drive it: a driver that has no stack by itself, without the
 * forward compatibility that the GPU would allow, or the whole set.
 */
static uint64_t without_gpu(struct search *s, uint64_t set)
{
	enum search_level level = s->level;
	const struct unit *gpu;
	const char *id;
	uint64_t alone = 0;

	if (!find_unusable(s, set, &gpu, &id))
		return set;
	s->level = level < LEVEL_COMPAT ? level : LEVEL_COMPAT - 1;
	for (size_t i = 0; i < s->units->count && !alone; i++)
		if ((set & UNIT_BIT(i)) && s->units->list[i].driver && !can_work(s, UNIT_BIT(i)))
			alone = UNIT_BIT(i);
	s->level = level;
	return alone ? alone : set;
}

uint64_t conflict_set(struct search *s)
{
	return without_gpu(s, with_forbidding_gpu(s, smallest_set(s)));
}

/* Explains a driver or GPU that no CUDA of the catalog supports: what the nearest CUDA needs. */
static void explain_alone(struct search *s, size_t unit, const char **text, const char **source)
{
	const struct unit *u = &s->units->list[unit];
	const struct domain *cuda = &s->model->domains[COMPONENT_CUDA];
	const struct value *nearest = NULL;

	for (size_t i = 0; i < cuda->count && u->admits[COMPONENT_CUDA]; i++) {
		int order =
			nearest ? version_compare(cuda->values[i].version, nearest->version) : 1;

		if (u->admits[COMPONENT_CUDA][i])
			return;
		if (!nearest || (u->driver ? order < 0 : order > 0))
			nearest = &cuda->values[i];
	}
	if (nearest)
		unit_explain(s->model, u, nearest, text, source);
}

/*
 * Explains without a pivot: the rule that was broken where the search with the whole set got
 * furthest.
 */
static void explain_together(struct search *s, uint64_t set, struct unsatisfied *why)
{
	const char *text = "it and the others have no stack together", *source = "";

	s->trace = (struct trace){.on = true};
	units_work(s, set);
	s->trace.on = false;
	if (!s->trace.text && __builtin_popcountll(set) == 1)
		explain_alone(s, (size_t)__builtin_ctzll(set), &text, &source);
	if (s->trace.text) {
		text = s->trace.text;
		source = s->trace.source;
	}
	for (size_t u = 0; u < s->units->count; u++)
		if (set & UNIT_BIT(u))
			unsatisfied_add(why, s->units->list[u].text, text, source);
}

/* Explains when there is no stack even without requests: the catalog itself excludes all. */
static void explain_nothing(struct search *s, struct unsatisfied *why)
{
	s->trace = (struct trace){.on = true};
	units_work(s, 0);
	s->trace.on = false;
	why->nothing = s->trace.text ? arena_printf(s->model->arena,
						    "the catalog has no stack at all: %s [%s]",
						    s->trace.text, s->trace.source)
				     : "the catalog has no stack at all";
}

/* Of "torch==2.6.0+cu999" what is wrong with the build, where the version is known; "" where that is not it. */
static const char *explain_build(struct search *s, const struct unit *unit)
{
	static const char *const others[] = {"+rocm", "+xpu", "+hip"};
	const struct domain *domain = &s->model->domains[unit->component];
	const char *wanted = unit->req.clause_count == 1 ? unit->req.clauses[0].version : "";
	const char *build = strchr(wanted, '+');

	for (size_t i = 0; build && i < ARRAY_LEN(others); i++)
		if (starts_with(build, others[i]))
			return arena_printf(
				s->model->arena,
				"stacks are for CUDA, and %s is a build for others' GPUs", build);
	for (size_t i = 0; build && i < domain->count; i++)
		if (version_in_series(
			    domain->values[i].version,
			    arena_strndup(s->model->arena, wanted, (size_t)(build - wanted))))
			return arena_printf(
				s->model->arena,
				"the catalog knows no build %s of it; 'ringup matrix %s %s==%s' lists those that it knows",
				build, component_names[unit->component],
				component_names[unit->component],
				arena_strndup(s->model->arena, wanted, (size_t)(build - wanted)));
	return "";
}

/* Explains a request that no row of the catalog passes. */
static bool explain_unknown(struct search *s, const struct unit *unit, struct unsatisfied *why)
{
	const struct domain *domain = &s->model->domains[unit->component];
	const uint8_t *admits = unit->admits[unit->component];
	const struct value *newest = NULL, *oldest = NULL;
	const char *build;

	for (size_t i = 0; i < domain->count; i++) {
		if (admits && admits[i])
			return false;
		if (!newest || version_compare(domain->values[i].version, newest->version) > 0)
			newest = &domain->values[i];
		if (!oldest || version_compare(domain->values[i].version, oldest->version) < 0)
			oldest = &domain->values[i];
	}
	if (!admits)
		return false;
	build = newest ? explain_build(s, unit) : "";
	unsatisfied_add(why, unit->text,
			*build	 ? build
			: newest ? arena_printf(s->model->arena,
						"the catalog knows no such %s; it knows %s to %s",
						component_names[unit->component], oldest->version,
						newest->version)
				 : arena_printf(s->model->arena, "the catalog has no rows for %s",
						component_names[unit->component]),
			newest ? newest->source : "");
	return true;
}

/* Whether the set has a stack when the rule does not count, in all its rows. */
static bool works_despite(struct search *s, uint64_t set, const struct conflict_rule *rule)
{
	const struct model *model = s->model;
	bool works;

	for (size_t k = 0; k < model->conflict_count; k++)
		if (!rule || strcmp(model->conflicts[k].text, rule->text) == 0)
			s->waived[k / 64] |= 1ULL << (k % 64);
	works = can_work(s, set);
	memset(s->waived, 0, model->conflict_words * sizeof(*s->waived));
	return works;
}

/* Explains by one known conflict without which the set would have a stack. */
static bool explain_known(struct search *s, uint64_t set, struct unsatisfied *why)
{
	const struct conflict_rule *rule = NULL;

	if (!works_despite(s, set, NULL))
		return false;
	for (size_t k = 0; k < s->model->conflict_count && !rule; k++)
		if (s->model->conflicts[k].refuses &&
		    works_despite(s, set, &s->model->conflicts[k]))
			rule = &s->model->conflicts[k];
	if (rule)
		known_explain(s, set, rule, why);
	return rule != NULL;
}

/* Explains a GPU that has no recipe, or one with drivers that do not drive it. */
static bool explain_unusable(struct search *s, uint64_t set, struct unsatisfied *why)
{
	const struct unit *gpu;
	const char *id, *text = find_unusable(s, set, &gpu, &id);

	for (size_t u = 0; u < s->units->count && text; u++)
		if (set & UNIT_BIT(u))
			unsatisfied_add(why, s->units->list[u].text, text,
					gpu->gpu ? gpu->gpu->source : "");
	return text != NULL;
}

void conflict_explain(struct search *s, uint64_t set, struct unsatisfied *why)
{
	size_t first = set ? (size_t)__builtin_ctzll(set) : 0;

	if (explain_unusable(s, set, why)) {
		conflict_suggest(s, set, why);
		return;
	}

	if (set == UNIT_BIT(first) && explain_unknown(s, &s->units->list[first], why)) {
		conflict_suggest(s, set, why);
		return;
	}
	if (set && explain_known(s, set, why)) {
		conflict_suggest(s, set, why);
		return;
	}
	if (__builtin_popcountll(set) > 1)
		pivot_explain(s, set, why);
	if (!why->count)
		explain_together(s, set, why);
	if (!set)
		explain_nothing(s, why);
	conflict_suggest(s, set, why);
}
