/* SPDX-License-Identifier: MIT */
#include "plan/conflict.h"

#include "core/str.h"
#include "plan/breach.h"
#include "plan/reach.h"

#include <string.h>

#define UNIT_BIT(i) (1ULL << (i))

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
		if (COMPONENT_BIT(unit->component) & COMPONENTS_PIP)
			parts |= COMPONENT_BIT(unit->component);
		range |= unit->component == COMPONENT_DRIVER && !unit->is_pin &&
			 unit->req.clause_count;
		pin |= unit->component == COMPONENT_DRIVER && unit->is_pin;
	}
	/* a driver that is there needs no search; one that may be chosen does */
	if (range && !pin)
		parts |= COMPONENT_BIT(COMPONENT_DRIVER);
	return parts;
}

/* A driver that is there and a range that it is outside of. */
static bool drivers_agree(const struct units *units, uint64_t active)
{
	for (size_t i = 0; i < units->count; i++)
		for (size_t j = 0; j < units->count; j++) {
			const struct unit *pin = &units->list[i], *range = &units->list[j];

			if ((active & UNIT_BIT(i)) && (active & UNIT_BIT(j)) && pin->driver &&
			    range->component == COMPONENT_DRIVER && !range->is_pin &&
			    !requirement_admits_series(&range->req, pin->driver))
				return false;
		}
	return true;
}

bool units_work(struct search *s, uint64_t active)
{
	s->active = active;
	s->parts = stack_parts(s->model, s->units, active);
	return drivers_agree(s->units, active) && search_run(s);
}

static bool can_work(struct search *s, uint64_t active)
{
	bool works;

	s->is_unranked = true;
	works = units_work(s, active);
	s->is_unranked = false;
	return works;
}

static uint64_t all_units(const struct search *s)
{
	return s->units->count == 64 ? ~0ULL : UNIT_BIT(s->units->count) - 1;
}

/* One unit or two that have no stack: most conflicts are that small. */
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

uint64_t conflict_set(struct search *s)
{
	uint64_t set;

	if (!can_work(s, 0))
		return 0;
	set = small_set(s);
	if (set)
		return set;
	set = all_units(s);
	for (size_t i = 0; i < s->units->count; i++)
		if (!can_work(s, set & ~UNIT_BIT(i)))
			set &= ~UNIT_BIT(i);
	return set;
}

/* --- the chain of facts: a component that the units of the set pull apart ------------------- */

/* In the order in which a person would look for the reason. */
static const enum component pivots[] = {
	COMPONENT_CUDA,	      COMPONENT_OS,    COMPONENT_PYTHON,  COMPONENT_GCC,
	COMPONENT_CUDNN,      COMPONENT_NCCL,  COMPONENT_OPENMPI, COMPONENT_HOROVOD,
	COMPONENT_TENSORFLOW, COMPONENT_TORCH, COMPONENT_MXNET,
};

struct pivot {
	const struct domain *domain;
	bool *allowed[UNITS_MAX]; /* per unit of the set, per value; NULL for the others */
};

/* The rule that the search for a stack with the unit and the value breaks where it gets furthest.
 */
static void trace_exclusion(struct search *s, size_t unit, const struct value *value, bool last)
{
	s->trace = (struct trace){.on = true, .last = last};
	s->fixed[value->component] = value;
	s->active = UNIT_BIT(unit);
	s->parts = stack_parts(s->model, s->units, s->active) | COMPONENT_BIT(value->component);
	search_run(s);
	s->fixed[value->component] = NULL;
	s->trace.on = false;
}

static bool is_shared(const struct units *units, uint64_t set, struct reach *reaches,
		      const struct value *value)
{
	for (size_t u = 0; u < units->count; u++)
		if ((set & UNIT_BIT(u)) && !reach_has(&reaches[u], value))
			return false;
	return true;
}

static bool names_component(const struct units *units, uint64_t set, enum component c)
{
	for (size_t u = 0; u < units->count; u++)
		if ((set & UNIT_BIT(u)) && units->list[u].component == c)
			return true;
	return false;
}

/*
 * Whether no value of the component is left by all units of the set together. A unit that leaves
 * none at all counts when another one asks for the component by name.
 */
static bool is_pivot(struct search *s, uint64_t set, enum component c, struct reach *reaches,
		     struct pivot *pivot)
{
	bool is_named = names_component(s->units, set, c);

	pivot->domain = &s->model->domains[c];
	if (!pivot->domain->count)
		return false;
	for (size_t i = 0; i < pivot->domain->count; i++)
		if (is_shared(s->units, set, reaches, &pivot->domain->values[i]))
			return false;
	for (size_t u = 0; u < s->units->count; u++) {
		bool any = false;

		pivot->allowed[u] = NULL;
		if (!(set & UNIT_BIT(u)))
			continue;
		pivot->allowed[u] = ARENA_ARRAY(s->model->arena, pivot->domain->count, bool);
		for (size_t i = 0; i < pivot->domain->count; i++) {
			pivot->allowed[u][i] = reach_has(&reaches[u], &pivot->domain->values[i]);
			any |= pivot->allowed[u][i];
		}
		if (!any && (!is_named || s->units->list[u].component == c))
			return false;
	}
	return true;
}

struct span {
	const struct value *low, *high;
	size_t count;
	bool from_first, to_last; /* of all that is known */
};

static struct span span_of(const struct pivot *pivot, size_t unit)
{
	struct span span = {0};
	const struct value *first = NULL, *last = NULL;

	for (size_t i = 0; i < pivot->domain->count; i++) {
		const struct value *value = &pivot->domain->values[i];

		if (!first || version_compare(value->version, first->version) < 0)
			first = value;
		if (!last || version_compare(value->version, last->version) > 0)
			last = value;
		if (!pivot->allowed[unit][i])
			continue;
		span.count++;
		if (!span.low || version_compare(value->version, span.low->version) < 0)
			span.low = value;
		if (!span.high || version_compare(value->version, span.high->version) > 0)
			span.high = value;
	}
	span.from_first = span.low && version_compare(span.low->version, first->version) == 0;
	span.to_last = span.high && version_compare(span.high->version, last->version) == 0;
	return span;
}

/* "CUDA <= 9.1.85", "Python 3.6 to 3.8", "ubuntu18.04 and 3 more". */
static const char *describe_span(const struct search *s, const struct pivot *pivot, size_t unit)
{
	struct span span = span_of(pivot, unit);
	enum component c = pivot->domain->values[0].component;
	const char *title = component_titles[c];

	if (!span.count)
		return arena_printf(s->model->arena, "no %s", title);
	if (c == COMPONENT_OS)
		return span.count == 1
			       ? arena_printf(s->model->arena, "the OS %s", span.high->version)
			       : arena_printf(s->model->arena, "%zu OSes, %s among them",
					      span.count, span.high->version);
	if (version_compare(span.low->version, span.high->version) == 0)
		return arena_printf(s->model->arena, "%s %s", title, span.low->version);
	if (span.from_first && !span.to_last)
		return arena_printf(s->model->arena, "%s <= %s", title, span.high->version);
	if (span.to_last && !span.from_first)
		return arena_printf(s->model->arena, "%s >= %s", title, span.low->version);
	return arena_printf(s->model->arena, "%s %s to %s", title, span.low->version,
			    span.high->version);
}

/* Whether all other units of the set allow the value, and this one does not. */
static bool only_excluded_by(const struct pivot *pivot, size_t unit, size_t units, size_t i)
{
	for (size_t u = 0; u < units; u++)
		if (u != unit && pivot->allowed[u] && !pivot->allowed[u][i])
			return false;
	return !pivot->allowed[unit][i];
}

/* The value nearest to what the unit allows among those that the others allow. */
static const struct value *nearest_excluded(const struct pivot *pivot, size_t unit, size_t units,
					    bool *below)
{
	const struct value *values = pivot->domain->values, *found = NULL;
	struct span own = span_of(pivot, unit);

	if (!own.count)
		return &values[0];
	for (size_t i = 0; i < pivot->domain->count; i++) {
		bool under = version_compare(values[i].version, own.low->version) < 0;

		if (!only_excluded_by(pivot, unit, units, i))
			continue;
		/* under what it allows the highest is nearest, above it the lowest */
		if (!found ||
		    (*below &&
		     (!under || version_compare(values[i].version, found->version) > 0)) ||
		    (!*below && !under && version_compare(values[i].version, found->version) < 0)) {
			found = &values[i];
			*below = under;
		}
	}
	return found;
}

/* Why the unit alone has no stack with this value: the rule broken where the search got furthest.
 */
static bool explain_exclusion(struct search *s, size_t unit, const struct value *value, bool below,
			      const char **text, const char **source)
{
	const struct unit *u = &s->units->list[unit];
	const uint8_t *admits = u->admits[value->component];

	if (admits && admits[value->index] == ADMIT_NO) {
		unit_explain(s->model, u, value, text, source);
		return true;
	}
	trace_exclusion(s, unit, value, below);
	*text = s->trace.text;
	*source = s->trace.source;
	return *text != NULL;
}

static void add_conflict(struct unsatisfied *why, const char *request, const char *because,
			 const char *source)
{
	if (why->count < CONFLICTS_MAX)
		why->conflicts[why->count++] = (struct conflict){request, because, source};
}

static void explain_pivot(struct search *s, const struct pivot *pivot, struct unsatisfied *why)
{
	for (size_t u = 0; u < s->units->count; u++) {
		const struct unit *unit = &s->units->list[u];
		const char *text = NULL, *source = "", *span;
		const struct value *excluded;
		bool below = false;

		if (!pivot->allowed[u])
			continue;
		span = describe_span(s, pivot, u);
		excluded = nearest_excluded(pivot, u, s->units->count, &below);
		if (!excluded || (unit->component == excluded->component && !unit->is_pin) ||
		    !explain_exclusion(s, u, excluded, below, &text, &source))
			add_conflict(why, unit->text,
				     arena_printf(s->model->arena, "it leaves %s", span),
				     pivot->domain->values[0].source);
		else
			add_conflict(why, unit->text,
				     arena_printf(s->model->arena, "it leaves %s (%s)", span, text),
				     source);
	}
}

/* A driver or GPU that no CUDA of the catalog is for: what the nearest one asks. */
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

/* Without a pivot: the rule broken where the search with the whole set got furthest. */
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
			add_conflict(why, s->units->list[u].text, text, source);
}

/* A request that no row of the catalog passes. */
static bool explain_unknown(struct search *s, const struct unit *unit, struct unsatisfied *why)
{
	const struct domain *domain = &s->model->domains[unit->component];
	const uint8_t *admits = unit->admits[unit->component];
	const struct value *newest = NULL;

	for (size_t i = 0; i < domain->count; i++) {
		if (admits && admits[i])
			return false;
		if (!newest || version_compare(domain->values[i].version, newest->version) > 0)
			newest = &domain->values[i];
	}
	if (!admits)
		return false;
	add_conflict(
		why, unit->text,
		newest ? arena_printf(s->model->arena,
				      "the catalog knows no such %s; the newest it knows is %s",
				      component_names[unit->component], newest->version)
		       : arena_printf(s->model->arena, "the catalog has no rows for %s",
				      component_names[unit->component]),
		newest ? newest->source : "");
	return true;
}

/* Whether the set has a stack when the rule, in all its rows, does not count. */
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

/* One known conflict without which the set would have a stack: that is the reason. */
static bool explain_known(struct search *s, uint64_t set, struct unsatisfied *why)
{
	const struct conflict_rule *rule = NULL;

	if (!works_despite(s, set, NULL))
		return false;
	for (size_t k = 0; k < s->model->conflict_count && !rule; k++)
		if (s->model->conflicts[k].refuses &&
		    works_despite(s, set, &s->model->conflicts[k]))
			rule = &s->model->conflicts[k];
	for (size_t u = 0; u < s->units->count && rule; u++)
		if (set & UNIT_BIT(u))
			add_conflict(why, s->units->list[u].text,
				     arena_printf(s->model->arena, "%s do not go together: %s; %s",
						  rule->text, rule->symptom, rule->fix),
				     rule->source);
	return rule != NULL;
}

/* By the first component that the units of the set leave nothing of. */
static void explain_pulled(struct search *s, uint64_t set, struct unsatisfied *why)
{
	struct reach *reaches = ARENA_ARRAY(s->model->arena, s->units->count, struct reach);
	struct pivot pivot;

	for (size_t u = 0; u < s->units->count; u++)
		reach_init(&reaches[u], s, UNIT_BIT(u));
	for (size_t i = 0; i < ARRAY_LEN(pivots) && !why->count; i++)
		if (is_pivot(s, set, pivots[i], reaches, &pivot))
			explain_pivot(s, &pivot, why);
}

void conflict_explain(struct search *s, uint64_t set, struct unsatisfied *why)
{
	size_t first = set ? (size_t)__builtin_ctzll(set) : 0;

	if (set == UNIT_BIT(first) && explain_unknown(s, &s->units->list[first], why)) {
		conflict_suggest(s, set, why);
		return;
	}
	if (set && explain_known(s, set, why)) {
		conflict_suggest(s, set, why);
		return;
	}
	if (__builtin_popcountll(set) > 1)
		explain_pulled(s, set, why);
	if (!why->count)
		explain_together(s, set, why);
	conflict_suggest(s, set, why);
}
