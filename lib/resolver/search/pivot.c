/* SPDX-License-Identifier: MIT */
#include "resolver/search/pivot.h"

#include "core/str.h"
#include "resolver/rules/breach.h"
#include "resolver/search/conflict.h"
#include "resolver/search/reach.h"
#include "resolver/explain/explain.h"

#include <stdlib.h>
#include <string.h>

/* --- the chain of facts: a component that the units of the set pull apart ------------------- */

/* Components in the order in which a person would look for the reason. */
static const enum component pivots[] = {
	COMPONENT_GLIBC, /* it and the frameworks only where they are asked for */
	COMPONENT_CUDA,	      COMPONENT_OS,
	COMPONENT_PYTHON,     COMPONENT_GCC,
	COMPONENT_CUDNN,      COMPONENT_NCCL,
	COMPONENT_OPENMPI,    COMPONENT_UCX,
	COMPONENT_LIBFABRIC,  COMPONENT_AWS_OFI_NCCL,
	COMPONENT_HOROVOD,    COMPONENT_TENSORFLOW,
	COMPONENT_TORCH,      COMPONENT_JAX,
	COMPONENT_MXNET,      COMPONENT_TORCHVISION,
	COMPONENT_TORCHAUDIO, COMPONENT_DEEPSPEED,
	COMPONENT_FLASH_ATTN, COMPONENT_TRANSFORMER_ENGINE,
	COMPONENT_XFORMERS,   COMPONENT_MEGATRON_CORE,
	COMPONENT_TRITON,     COMPONENT_NVSHMEM,
};

struct pivot {
	const struct domain *domain;
	bool *allowed[UNITS_MAX]; /* per unit of the set, per value; NULL for the others */
};

/*
 * Finds the rule that the search for a stack with the unit and the value breaks where it gets
 * furthest.
 */
static void trace_exclusion(struct search *s, size_t unit, const struct value *value, bool last)
{
	s->trace = (struct trace){.on = true, .last = last};
	s->fixed[value->component] = value;
	s->active = UNIT_BIT(unit);
	s->parts = components_with_bases(stack_parts(s->model, s->units, s->active) |
					 COMPONENT_BIT(value->component));
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
 * Whether all units of the set together leave no value of the component. A unit that leaves none on
 * its own counts when another one names the component.
 */
static bool is_pivot(struct search *s, uint64_t set, enum component c, struct reach *reaches,
		     struct pivot *pivot)
{
	bool is_named = names_component(s->units, set, c);

	pivot->domain = &s->model->domains[c];
	if (!pivot->domain->count ||
	    (!is_named && (COMPONENT_BIT(c) & (COMPONENTS_PIP | COMPONENT_BIT(COMPONENT_GLIBC)))))
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
};

static struct span span_of(const struct pivot *pivot, size_t unit)
{
	struct span span = {0};

	for (size_t i = 0; i < pivot->domain->count; i++) {
		const struct value *value = &pivot->domain->values[i];

		if (!pivot->allowed[unit][i])
			continue;
		span.count++;
		if (!span.low || version_compare(value->version, span.low->version) < 0)
			span.low = value;
		if (!span.high || version_compare(value->version, span.high->version) > 0)
			span.high = value;
	}
	return span;
}

/* A known version, and whether a row of it is allowed. */
struct step {
	const char *version;
	bool allowed;
};

static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	return version_compare(a->version, b->version);
}

/* Lists each version of the component once, from the oldest on. Returns how many. */
static size_t list_steps(const struct pivot *pivot, size_t unit, struct step *steps)
{
	size_t count = 0, kept = 0;

	for (; count < pivot->domain->count; count++)
		steps[count] = (struct step){pivot->domain->values[count].version,
					     pivot->allowed[unit][count]};
	qsort(steps, count, sizeof(*steps), compare_steps);
	for (size_t i = 0; i < count; i++) {
		if (kept && version_compare(steps[kept - 1].version, steps[i].version) == 0)
			steps[kept - 1].allowed |= steps[i].allowed;
		else
			steps[kept++] = steps[i];
	}
	return kept;
}

/*
 * "<= 9.1.85", "10.1.105, 11.1.0 to 11.8.0": the runs of allowed versions, at most three of them.
 */
static const char *describe_runs(const struct step *steps, size_t count, struct arena *arena)
{
	const char *text = "";
	int runs = 0;

	for (size_t i = 0; i < count; i++) {
		size_t end = i;

		if (!steps[i].allowed)
			continue;
		while (end + 1 < count && steps[end + 1].allowed)
			end++;
		if (runs++ == 3) {
			while (!steps[count - 1].allowed)
				count--;
			return arena_printf(arena, "%s and others up to %s", text,
					    steps[count - 1].version);
		}
		text = arena_printf(arena, "%s%s", text, runs > 1 ? ", " : "");
		if (end == count - 1 && i > 0 && i < end)
			text = arena_printf(arena, "%s>= %s", text, steps[i].version);
		else if (i == 0 && end > 0 && end < count - 1)
			text = arena_printf(arena, "%s<= %s", text, steps[end].version);
		else if (i == end)
			text = arena_printf(arena, "%s%s", text, steps[i].version);
		else
			text = arena_printf(arena, "%s%s to %s", text, steps[i].version,
					    steps[end].version);
		i = end;
	}
	return text;
}

/* "CUDA <= 9.1.85", "Python 3.6 to 3.8", "4 OSes, ubuntu18.04 among them". */
static const char *describe_span(const struct search *s, const struct pivot *pivot, size_t unit)
{
	struct span span = span_of(pivot, unit);
	enum component c = pivot->domain->values[0].component;
	const char *title = component_titles[c];
	struct step *steps;

	if (!span.count)
		return arena_printf(s->model->arena, "no %s", title);
	if (c == COMPONENT_OS)
		return span.count == 1
			       ? arena_printf(s->model->arena, "the OS %s", span.high->version)
			       : arena_printf(s->model->arena, "%zu OSes, %s among them",
					      span.count, span.high->version);
	steps = ARENA_ARRAY(s->model->arena, pivot->domain->count, struct step);
	return arena_printf(s->model->arena, "%s %s", title,
			    describe_runs(steps, list_steps(pivot, unit, steps), s->model->arena));
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

	for (size_t i = 0; i < pivot->domain->count && !own.count; i++)
		if (only_excluded_by(pivot, unit, units, i))
			return &values[i];
	if (!own.count)
		return &values[0];
	for (size_t i = 0; i < pivot->domain->count; i++) {
		bool under = version_compare(values[i].version, own.low->version) < 0;

		if (!only_excluded_by(pivot, unit, units, i))
			continue;
		/* below the allowed values the highest one is nearest, above them the lowest one */
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

/* Explains when every version that the unit admits contradicts the value itself. */
static bool explain_direct(struct search *s, const struct unit *unit, const struct value *value,
			   bool below, const char **text, const char **source)
{
	const struct domain *domain = &s->model->domains[unit->component];
	const uint8_t *admits = unit->admits[unit->component];
	const struct value *nearest = NULL;

	if (unit->is_pin || !admits || unit->component == value->component)
		return false;
	for (size_t i = 0; i < domain->count; i++) {
		if (admits[i] == ADMIT_NO)
			continue;
		if (rules_fit_pair(s->model, &domain->values[i], value))
			return false;
		if (!nearest || below)
			nearest = &domain->values[i];
	}
	if (!nearest)
		return false;
	s->now = (struct assignment){0};
	s->now.chosen[unit->component] = nearest;
	return rules_explain(s, value, text, source);
}

/* The newest value of `c` that goes with the value, if the GPU admits none that does; else NULL. */
static const struct value *find_lost_partner(const struct search *s, const struct unit *gpu,
					     const struct value *value, int c)
{
	const struct domain *domain = &s->model->domains[c];
	const struct value *newest = NULL;

	for (size_t i = 0; i < domain->count; i++) {
		const struct value *partner = &domain->values[i];

		if (!rules_fit_pair(s->model, value, partner))
			continue;
		if (gpu->admits[c][i] != ADMIT_NO)
			return NULL;
		if (!newest || version_compare(partner->version, newest->version) > 0)
			newest = partner;
	}
	return newest;
}

/* A GPU that takes nothing of another component that goes with the value: cuDNN's builds for CUDA 9. */
static bool explain_by_partner(const struct search *s, const struct unit *gpu,
			       const struct value *value, const char **text, const char **source)
{
	uint32_t parts = stack_parts(s->model, s->units, 0);

	for (int c = 0; c < COMPONENT_COUNT && gpu->sm; c++) {
		const struct value *partner =
			(parts & COMPONENT_BIT(c)) && gpu->admits[c] && c != (int)value->component
				? find_lost_partner(s, gpu, value, c)
				: NULL;

		if (!partner)
			continue;
		unit_explain(s->model, gpu, partner, text, source);
		return true;
	}
	return false;
}

/*
 * Why the unit on its own has no stack with this value: the rule that was broken where the search
 * got furthest.
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
	if (explain_by_partner(s, u, value, text, source) ||
	    explain_direct(s, u, value, below, text, source))
		return true;
	trace_exclusion(s, unit, value, below);
	*text = s->trace.text;
	*source = s->trace.source;
	return *text != NULL;
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
			unsatisfied_add(why, unit->text,
					arena_printf(s->model->arena, "it leaves %s", span),
					pivot->domain->values[0].source);
		else
			unsatisfied_add(
				why, unit->text,
				arena_printf(s->model->arena, "it leaves %s (%s)", span, text),
				source);
	}
}

void pivot_explain(struct search *s, uint64_t set, struct unsatisfied *why)
{
	struct reach *reaches = ARENA_ARRAY(s->model->arena, s->units->count, struct reach);
	struct pivot pivot;

	for (size_t u = 0; u < s->units->count; u++)
		reach_init(&reaches[u], s, UNIT_BIT(u));
	for (size_t i = 0; i < ARRAY_LEN(pivots) && !why->count; i++)
		if (is_pivot(s, set, pivots[i], reaches, &pivot))
			explain_pivot(s, &pivot, why);
}

const char *pivot_leaves(struct search *s, size_t unit, enum component c, const struct needs *needs,
			 const char **source)
{
	struct pivot *pivot = ARENA_NEW(s->model->arena, struct pivot);
	const struct value *excluded = NULL;
	const char *text = NULL, *span;
	struct reach reach;
	size_t left = 0;

	*pivot = (struct pivot){.domain = &s->model->domains[c]};
	pivot->allowed[unit] = ARENA_ARRAY(s->model->arena, pivot->domain->count + 1, bool);
	reach_init(&reach, s, UNIT_BIT(unit));
	for (size_t i = 0; i < pivot->domain->count; i++) {
		const struct value *value = &pivot->domain->values[i];

		pivot->allowed[unit][i] = reach_has(&reach, value);
		left += pivot->allowed[unit][i];
		if (pivot->allowed[unit][i] && needs && !needs_admit(needs, value->version))
			return NULL;
		if (!pivot->allowed[unit][i] &&
		    (!excluded || version_compare(value->version, excluded->version) > 0))
			excluded = value;
	}
	if (!left || !excluded)
		return NULL;
	span = describe_span(s, pivot, unit);
	return explain_exclusion(s, unit, excluded, true, &text, source)
		       ? arena_printf(s->model->arena, "it leaves %s (%s)", span, text)
		       : arena_printf(s->model->arena, "it leaves %s", span);
}
