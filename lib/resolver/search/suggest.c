/* SPDX-License-Identifier: MIT */
/* The nearest requests that would work, when there is no stack. */
#include "resolver/search/suggest.h"

#include "core/str.h"

#include "resolver/search/conflict.h"
#include "resolver/rules/rule_gpu.h"
#include "resolver/search/reach.h"

#include <string.h>

static void suggest_add(struct unsatisfied *why, const char *text)
{
	for (size_t i = 0; i < why->suggestion_count; i++)
		if (strcmp(why->suggestions[i], text) == 0)
			return;
	if (why->suggestion_count < CONFLICTS_MAX)
		why->suggestions[why->suggestion_count++] = text;
}

static uint64_t all_but(const struct search *s, size_t unit)
{
	return units_all(s->units) & ~UNIT_BIT(unit);
}

/* Whether there is a stack for the active units, in which these components are then named. */
static bool search_without(struct search *s, uint64_t active, uint32_t named)
{
	bool found;

	s->active = active;
	s->named = named;
	s->parts = components_with_bases(stack_parts(s->model, s->units, active) | named);
	found = pins_agree(s, active) && search_run(s);
	s->named = 0;
	return found;
}

/* The value that would be chosen without the unit; NULL when there is no stack either. */
static const struct value *choice_without(struct search *s, size_t unit)
{
	enum component c = s->units->list[unit].component;

	return search_without(s, all_but(s, unit), COMPONENT_BIT(c)) ? s->now.chosen[c] : NULL;
}

/* --- drivers: the lowest known one that is high enough --------------------------------------- */

/* Whether everything works with this driver instead of the unit's. */
static bool works_with_driver(struct search *s, size_t unit, const char *driver)
{
	const struct model *model = s->model;
	struct units *copy = ARENA_NEW(model->arena, struct units);
	const struct units *old = s->units;
	bool works;

	*copy = *old;
	copy->list[unit].driver = driver;
	units_apply(model, copy);
	s->units = copy;
	works = units_work(s, units_all(copy));
	s->units = old;
	return works;
}

/* A driver that no longer drives a GPU: the newest known one that does. */
static void suggest_older_driver(struct search *s, size_t unit, struct value *const *known,
				 struct unsatisfied *why)
{
	const char *given = s->units->list[unit].driver;

	for (size_t i = s->model->domains[COMPONENT_DRIVER].count; i-- > 0;) {
		if (version_compare(known[i]->version, given) >= 0 ||
		    !works_with_driver(s, unit, known[i]->version))
			continue;
		suggest_add(why, arena_printf(s->model->arena, "driver<=%s", known[i]->version));
		return;
	}
}

/* "driver>=V"; where another driver that is asked for is older than that, it is V itself that goes beside it. */
static const char *driver_words(const struct search *s, size_t unit, const char *version)
{
	const char *sign = ">=";

	for (size_t i = 0; i < s->units->count; i++) {
		const struct unit *other = &s->units->list[i];

		if (i != unit && other->driver && !other->hosts &&
		    version_compare(other->driver, version) < 0)
			sign = "==";
	}
	return arena_printf(s->model->arena, "driver%s%s", sign, version);
}

static void suggest_driver(struct search *s, size_t unit, struct unsatisfied *why)
{
	const struct domain *domain = &s->model->domains[COMPONENT_DRIVER];
	struct value *const *known = model_by_version(domain, s->model->arena);
	size_t low = 0, high, count = domain->count;

	while (low < count &&
	       version_compare(known[low]->version, s->units->list[unit].driver) <= 0)
		low++;
	high = count;
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (works_with_driver(s, unit, known[middle]->version))
			high = middle;
		else
			low = middle + 1;
	}
	if (low < count)
		suggest_add(why, driver_words(s, unit, known[low]->version));
	else
		suggest_older_driver(s, unit, known, why);
}

/*
 * --- versions: the nearest older one and the nearest newer one ---------------------------------
 */

static bool is_admitted(const struct unit *unit, const struct value *value)
{
	const uint8_t *admits = unit->admits[value->component];

	return admits && admits[value->index] != ADMIT_NO;
}

/* A driver that a suggestion names is one that is there, and has to drive the GPUs asked for. */
static bool drives_all(const struct search *s, const struct value *value)
{
	for (size_t i = 0; i < s->units->count && value->component == COMPONENT_DRIVER; i++) {
		const struct unit *gpu = &s->units->list[i];

		if (gpu->gpu && !gpu->hosts && gpu_refuses_driver(s->model, gpu, value->version))
			return false;
	}
	return true;
}

/* Walks from `at` in steps of `step` to the first version that works. */
static const struct value *nearest_version(const struct search *s, struct reach *reach,
					   const struct unit *unit, struct value *const *list,
					   size_t count, size_t at, int step)
{
	for (; at < count; at += (size_t)step)
		if (!is_admitted(unit, list[at]) && drives_all(s, list[at]) &&
		    reach_has(reach, list[at]))
			return list[at];
	return NULL;
}

/* "torch==2.8.0"; or "torch==2.8.0+cu128" where a build is asked for, since it is another build that works. */
static void suggest_value(const struct search *s, const char *asked, const struct value *value,
			  struct unsatisfied *why)
{
	bool names_build = strchr(asked, '+');
	const char *build = names_build ? strchr(value_cell(value, "pip"), '+') : NULL;
	const char *folder = strrchr(value_cell(value, "index"), '/');

	/* the one on PyPI has no name there, but one in PyTorch's index */
	if (names_build && !build && folder && starts_with(folder, "/cu"))
		build = arena_printf(s->model->arena, "+%s", folder + 1);
	suggest_add(why,
		    arena_printf(s->model->arena, "%s==%s%s", component_names[value->component],
				 value->version, build ? build : ""));
}

static void suggest_version(struct search *s, size_t unit, struct unsatisfied *why)
{
	const struct unit *u = &s->units->list[unit];
	const struct domain *domain = &s->model->domains[u->component];
	struct value *const *list = model_by_version(domain, s->model->arena);
	const char *asked = u->req.clauses[0].version;
	const struct value *older, *newer;
	size_t middle = 0;
	struct reach reach;

	while (middle < domain->count && version_compare(list[middle]->version, asked) < 0)
		middle++;
	/* a suggestion names the component, so CUDA is the system's then */
	s->named = COMPONENT_BIT(u->component);
	reach_init(&reach, s, all_but(s, unit));
	older = nearest_version(s, &reach, u, list, domain->count, middle - 1, -1);
	newer = nearest_version(s, &reach, u, list, domain->count, middle, 1);
	s->named = 0;
	if (older)
		suggest_value(s, asked, older, why);
	if (newer)
		suggest_value(s, asked, newer, why);
}

/* OS names have no order, so this suggests the one that would be chosen without the request. */
static void suggest_choice(struct search *s, size_t unit, struct unsatisfied *why)
{
	enum component c = s->units->list[unit].component;
	const struct value *choice = choice_without(s, unit);

	if (choice && s->units->list[unit].is_base)
		suggest_add(why,
			    arena_printf(s->model->arena, "an image.base of %s", choice->version));
	else if (choice)
		suggest_add(why, arena_printf(s->model->arena, "%s==%s", component_names[c],
					      choice->version));
}

/* Whether the unit may change in a suggestion of two changes, for when no single change helps. */
static bool can_change(const struct unit *unit)
{
	return !unit->is_pin && !unit->is_base && unit->req.clause_count;
}

static bool suggest_both(struct search *s, size_t i, size_t j, struct unsatisfied *why)
{
	enum component a = s->units->list[i].component, b = s->units->list[j].component;

	if (a == b ||
	    !search_without(s, all_but(s, i) & all_but(s, j),
			    COMPONENT_BIT(a) | COMPONENT_BIT(b)) ||
	    !drives_all(s, s->now.chosen[a]) || !drives_all(s, s->now.chosen[b]))
		return false;
	suggest_add(why, arena_printf(s->model->arena, "%s==%s with %s==%s", component_names[a],
				      s->now.chosen[a]->version, component_names[b],
				      s->now.chosen[b]->version));
	return true;
}

static void suggest_two(struct search *s, uint64_t set, struct unsatisfied *why)
{
	for (size_t i = 0; i < s->units->count; i++)
		for (size_t j = 0; j < s->units->count; j++)
			if ((set & UNIT_BIT(i)) && j != i && can_change(&s->units->list[i]) &&
			    can_change(&s->units->list[j]) && suggest_both(s, i, j, why))
				return;
}

void conflict_suggest(struct search *s, uint64_t set, struct unsatisfied *why)
{
	for (size_t u = 0; u < s->units->count; u++) {
		const struct unit *unit = &s->units->list[u];

		if (!(set & UNIT_BIT(u)))
			continue;
		if (unit->driver)
			suggest_driver(s, u, why);
		else if (unit->component == COMPONENT_OS)
			suggest_choice(s, u, why);
		else if (!unit->is_pin && unit->req.clause_count)
			suggest_version(s, u, why);
	}
	if (!why->suggestion_count)
		suggest_two(s, set, why);
}
