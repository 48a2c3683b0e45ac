/* SPDX-License-Identifier: MIT */
#include "resolver/search/search.h"

#include "resolver/rules/breach.h"
#include "resolver/search/prune.h"
#include "resolver/explain/explain.h"

#include <stdlib.h>
#include <string.h>

/* A trace may stop early, because it only explains and chooses nothing. */
#define TRACE_NODES 20000
/* From this many tried values on, making the sets consistent first costs less than it saves. */
#define PLAIN_NODES 300

void search_init(struct search *s, const struct model *model, const struct units *units,
		 uint32_t parts)
{
	*s = (struct search){
		.model = model, .units = units, .active = units_all(units), .parts = parts};
	prune_init(s);
	s->waived = ARENA_ARRAY(model->arena, model->conflict_words, uint64_t);
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		s->ranked[c] =
			ARENA_ARRAY(model->arena, model->domains[c].count + 1, struct ranked);
		s->threats[c] = ARENA_ARRAY(model->arena, model->conflict_words, uint64_t);
		s->live[c] = ARENA_ARRAY(model->arena, s->words, uint64_t);
	}
	s->live[COMPONENT_COUNT] = ARENA_ARRAY(model->arena, s->words, uint64_t);
}

static bool level_allows(const struct search *s, const struct value *value)
{
	bool from_source =
		value->component == COMPONENT_PYTHON && strcmp(value->kind, "source") == 0;

	/* what nobody can check has no recipe, so a newer stack with a Python from source is better */
	return (!from_source && value->tier != TIER_UNCHECKED) || s->level >= LEVEL_SOURCE_PYTHON;
}

bool search_admits(const struct search *s, const struct value *value)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const uint8_t *admits = s->units->list[i].admits[value->component];

		if (!(s->active >> i & 1) || !admits)
			continue;
		if (admits[value->index] == ADMIT_NO ||
		    (admits[value->index] == ADMIT_SERIES && s->level < LEVEL_SERIES) ||
		    (admits[value->index] == ADMIT_COMPAT && s->level < LEVEL_COMPAT))
			return false;
	}
	return level_allows(s, value);
}

size_t search_candidates(const struct search *s, enum component c, const struct value **first)
{
	const struct domain *domain = &s->model->domains[c];
	size_t count = 0;

	*first = NULL;
	for (size_t i = 0; i < domain->count; i++) {
		if (!search_admits(s, &domain->values[i]))
			continue;
		if (count++ == 0)
			*first = &domain->values[i];
	}
	return count;
}

/* Fills the component's part with all that the units admit. */
static void fill_admitted(const struct search *s, enum component c, uint64_t *part)
{
	const struct domain *domain = &s->model->domains[c];

	for (size_t i = 0; i < domain->count; i++)
		if (search_admits(s, &domain->values[i]))
			part[i / 64] |= 1ULL << (i % 64);
}

/* Fills the component's part with its fixed value, where that is admitted. */
static void fill_fixed(const struct search *s, enum component c, uint64_t *part)
{
	size_t i = s->fixed[c]->index;

	if (s->within ? bit_is_set(s->within + s->offsets[c], i) : search_admits(s, s->fixed[c]))
		part[i / 64] |= 1ULL << (i % 64);
}

bool search_fill(struct search *s, uint64_t *set)
{
	bool has_all = true;

	memset(set, 0, s->words * sizeof(*set));
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		uint64_t *part = set + s->offsets[c];
		size_t words = prune_words(s, (enum component)c);

		if (!(s->parts & COMPONENT_BIT(c)))
			continue;
		if (s->fixed[c])
			fill_fixed(s, (enum component)c, part);
		else if (s->within)
			memcpy(part, s->within + s->offsets[c], words * sizeof(*part));
		else
			fill_admitted(s, (enum component)c, part);
		has_all &= prune_next(s, set, (enum component)c, 0) != s->model->domains[c].count;
	}
	return has_all;
}

static int next_part(const struct search *s, int c)
{
	while (c < COMPONENT_COUNT && !(s->parts & COMPONENT_BIT(c)))
		c++;
	return c;
}

/* --- what a choice leaves ------------------------------------------------------------------- */

/* Removes from the next depth's set what a known conflict of two components excludes. */
static void narrow_by_conflicts(struct search *s, const struct value *value, int next)
{
	const struct model *model = s->model;
	const uint64_t *pairs = model->pair_rules[value->component];

	for (size_t word = 0; word < model->conflict_words; word++) {
		uint64_t left = pairs[word] & value->passes[word] & ~s->waived[word];

		for (; left; left &= left - 1) {
			const struct conflict_rule *rule =
				&model->conflicts[word * 64 + (size_t)__builtin_ctzll(left)];
			int other =
				__builtin_ctz(rule->components & ~COMPONENT_BIT(value->component));

			if (other < next || !(s->parts & COMPONENT_BIT(other)))
				continue;
			for (size_t i = 0; i < prune_words(s, (enum component)other); i++)
				s->live[next][s->offsets[other] + i] &= ~rule->passing[other][i];
		}
	}
}

/*
 * Leaves only what fits the value in the next depth's set. False when a component has no value
 * left; *blame then gets the components that removed its values, except the value's own.
 */
static bool narrow(struct search *s, const struct value *value, int next, uint32_t *blame)
{
	int c = (int)value->component;
	const uint64_t *from = s->live[c];
	uint64_t *to = s->live[next];

	memcpy(to, from, s->words * sizeof(*to));
	memcpy(s->pruned[next], s->pruned[c], sizeof(s->pruned[next]));
	if (s->trace.on)
		return true;
	for (const uint64_t *row = prune_row(s, value), *end = row + s->words; row < end; row++)
		*to++ &= *row;
	to = s->live[next];
	narrow_by_conflicts(s, value, next);
	for (int d = next; d < COMPONENT_COUNT; d++) {
		size_t at = s->offsets[d], end = at + prune_words(s, (enum component)d);
		uint64_t left = 0, gone = 0;

		if (!(s->parts & COMPONENT_BIT(d)))
			continue;
		for (; at < end; at++) {
			left |= to[at];
			gone |= from[at] ^ to[at];
		}
		if (gone)
			s->pruned[next][d] |= COMPONENT_BIT(c);
		if (!left) {
			*blame |= s->pruned[next][d] & ~COMPONENT_BIT(c);
			return false;
		}
	}
	return true;
}

/* --- depth first ---------------------------------------------------------------------------- */

static bool extend(struct search *s, int component, uint32_t *blame);

/* Keeps the first, or the last, rule that was broken at the deepest component. */
static void note_breach(struct search *s, const struct value *value)
{
	int depth = (int)value->component;
	struct breach breach;

	if (s->trace.text &&
	    (depth < s->trace.depth || (depth == s->trace.depth && !s->trace.last)))
		return;
	/* a row for another OS explains nothing */
	if (!breach_find(s, value, &breach) || breach.kind == BREACH_OS)
		return;
	s->trace.depth = depth;
	breach_explain(s, value, &breach, &s->trace.text, &s->trace.source);
}

/* Whether the value fits the chosen values. Pairs were checked before, except for a trace. */
static bool fits(struct search *s, const struct value *value, uint32_t *blame)
{
	if (!s->trace.on)
		return rules_fit_rest(s, value, blame);
	if (rules_fit(s, value, blame))
		return true;
	note_breach(s, value);
	return false;
}

/* Returns 1 when found, -1 to jump further back, 0 when this value does not work. */
static int try_value(struct search *s, const struct value *value, uint32_t *blame)
{
	int c = (int)value->component, next = next_part(s, c + 1);
	uint32_t below = 0;

	if (s->limit && s->nodes++ >= s->limit)
		return -1;
	if (!fits(s, value, blame))
		return 0;
	s->now.chosen[c] = value;
	if (next == COMPONENT_COUNT)
		return 1;
	if (narrow(s, value, next, blame)) {
		if (extend(s, next, &below))
			return 1;
		rules_prepare(s, (enum component)c);
		if (!(below & COMPONENT_BIT(c))) {
			s->now.chosen[c] = NULL;
			*blame = below;
			return -1;
		}
		*blame |= below & ~COMPONENT_BIT(c);
	}
	s->now.chosen[c] = NULL;
	return 0;
}

/* Lists the open values of the component with their ranks. Returns how many. */
static size_t search_rank_values(struct search *s, enum component c, int *worst)
{
	const struct domain *domain = &s->model->domains[c];
	size_t count = 0;

	*worst = 0;
	for (size_t i = prune_next(s, s->live[c], c, 0); i < domain->count;
	     i = prune_next(s, s->live[c], c, i + 1)) {
		struct ranked *ranked = &s->ranked[c][count++];

		ranked->value = &domain->values[i];
		ranked->rank = s->is_unranked ? 0 : rules_rank(s, ranked->value);
		if (ranked->rank > *worst)
			*worst = ranked->rank;
	}
	return count;
}

/*
 * Assigns the component and all after it. On failure *blame has the earlier components that caused
 * it.
 */
static bool extend(struct search *s, int c, uint32_t *blame)
{
	int worst, found = 0;
	size_t count;

	rules_prepare(s, (enum component)c);
	*blame = s->pruned[c][c];
	count = search_rank_values(s, (enum component)c, &worst);
	for (int rank = 0; rank <= worst && !found; rank++)
		for (size_t i = 0; i < count && !found; i++)
			if (s->ranked[c][i].rank == rank)
				found = try_value(s, s->ranked[c][i].value, blame);
	return found > 0;
}

static bool run_from(struct search *s, int first, size_t limit)
{
	uint32_t blame;

	s->nodes = 0;
	s->limit = limit;
	memset(s->pruned[first], 0, sizeof(s->pruned[first]));
	s->now = (struct assignment){0};
	return extend(s, first, &blame);
}

bool search_run(struct search *s)
{
	int first = next_part(s, 0);

	if (!search_fill(s, s->live[first]))
		return false;
	if (s->trace.on)
		return run_from(s, first, TRACE_NODES);
	if (run_from(s, first, PLAIN_NODES))
		return true;
	if (s->nodes <= PLAIN_NODES)
		return false;
	return prune_consistent(s, s->live[first]) && run_from(s, first, s->budget);
}

static int compare_ranked(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	return a->rank != b->rank
		       ? a->rank - b->rank
		       : (a->value->index > b->value->index) - (a->value->index < b->value->index);
}

const struct ranked *search_order(struct search *s, const struct domain *domain)
{
	struct ranked *order = ARENA_ARRAY(s->model->arena, domain->count + 1, struct ranked);

	for (int c = 0; c < COMPONENT_COUNT; c++)
		s->now.chosen[c] = s->fixed[c];
	if (domain->count) /* nothing is known of what is left to choose */
		memset(s->live[domain->values->component], 0, s->words * sizeof(uint64_t));
	for (size_t i = 0; i < domain->count; i++)
		order[i] = (struct ranked){&domain->values[i], rules_rank(s, &domain->values[i])};
	qsort(order, domain->count, sizeof(*order), compare_ranked);
	return order;
}
