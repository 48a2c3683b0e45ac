/* SPDX-License-Identifier: MIT */
#include "plan/search.h"

#include "plan/breach.h"

#include <string.h>

void search_init(struct search *s, const struct model *model, const struct units *units,
		 uint32_t parts)
{
	*s = (struct search){.model = model,
			     .units = units,
			     .active = units->count == 64 ? ~0ULL : (1ULL << units->count) - 1,
			     .parts = parts};
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		if (!(parts & COMPONENT_BIT(c)))
			continue;
		s->lists[c] = ARENA_ARRAY(model->arena, model->domains[c].count + 1,
					  const struct value *);
		s->threats[c] = ARENA_ARRAY(model->arena, model->conflict_words, uint64_t);
	}
}

static bool level_allows(const struct search *s, const struct value *value)
{
	bool from_source =
		value->component == COMPONENT_PYTHON && strcmp(value->kind, "source") == 0;

	return !from_source || s->level >= LEVEL_SOURCE_PYTHON;
}

bool search_admits(const struct search *s, const struct value *value)
{
	for (size_t i = 0; i < s->units->count; i++) {
		const uint8_t *admits = s->units->list[i].admits[value->component];

		if (!(s->active >> i & 1) || !admits)
			continue;
		if (admits[value->index] == ADMIT_NO ||
		    (admits[value->index] == ADMIT_COMPAT && s->level < LEVEL_COMPAT))
			return false;
	}
	return level_allows(s, value);
}

static void fill_lists(struct search *s)
{
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct domain *domain = &s->model->domains[c];

		s->now.chosen[c] = NULL;
		s->counts[c] = 0;
		if (!(s->parts & COMPONENT_BIT(c)))
			continue;
		if (s->fixed[c]) {
			s->counts[c] = search_admits(s, s->fixed[c]);
			s->lists[c][0] = s->fixed[c];
			continue;
		}
		for (size_t i = 0; i < domain->count; i++)
			if (search_admits(s, &domain->values[i]))
				s->lists[c][s->counts[c]++] = &domain->values[i];
	}
}

static bool extend(struct search *s, int component, uint32_t *blame);

/* Keeps the first, or the last, rule that was broken at the deepest component. */
static void note_breach(struct search *s, const struct value *value)
{
	int depth = (int)value->component;
	struct breach breach;

	if (s->trace.text &&
	    (depth < s->trace.depth || (depth == s->trace.depth && !s->trace.last)))
		return;
	/* that a row is for another OS says nothing */
	if (!breach_find(s, value, &breach) || breach.kind == BREACH_OS)
		return;
	s->trace.depth = depth;
	breach_explain(s, value, &breach, &s->trace.text, &s->trace.source);
}

/* Tries the values whose rank is `rank`; 1: found, -1: jump further back, 0: none of these. */
static int try_rank(struct search *s, int c, int rank, uint32_t *blame, int *next)
{
	for (size_t i = 0; i < s->counts[c]; i++) {
		const struct value *value = s->lists[c][i];
		uint32_t below = 0;
		int own = rules_rank(s, value);

		if (own > rank && own < *next)
			*next = own;
		if (own != rank)
			continue;
		if (!rules_fit(s, value, blame)) {
			if (s->trace.on)
				note_breach(s, value);
			continue;
		}
		s->now.chosen[c] = value;
		if (extend(s, c + 1, &below))
			return 1;
		s->now.chosen[c] = NULL;
		rules_prepare(s, (enum component)c);
		if (!(below & COMPONENT_BIT(c))) {
			*blame = below;
			return -1;
		}
		*blame |= below & ~COMPONENT_BIT(c);
	}
	return 0;
}

/* Assigns the component and all after it; on failure *blame are the ones before that caused it. */
static bool extend(struct search *s, int c, uint32_t *blame)
{
	int rank = 0, found = 0;

	while (c < COMPONENT_COUNT && !(s->parts & COMPONENT_BIT(c)))
		c++;
	if (c == COMPONENT_COUNT)
		return true;
	rules_prepare(s, (enum component)c);
	while (!found && rank < RANK_MAX) {
		int next = RANK_MAX;

		found = try_rank(s, c, rank, blame, &next);
		rank = next;
	}
	return found > 0;
}

bool search_run(struct search *s)
{
	uint32_t blame = 0;

	fill_lists(s);
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if ((s->parts & COMPONENT_BIT(c)) && !s->counts[c])
			return false;
	return extend(s, 0, &blame);
}
