/* SPDX-License-Identifier: MIT */
#include "resolver/search/prune.h"

#include "resolver/brought.h"
#include "resolver/rules/rules.h"

#include <string.h>

size_t prune_words(const struct search *s, enum component c)
{
	return s->model->domains[c].count / 64 + 1;
}

void prune_init(struct search *s)
{
	s->words = 0;
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		s->offsets[c] = s->words;
		s->words += prune_words(s, (enum component)c);
		for (int k = 0; k < 2; k++)
			s->rows[k][c] = ARENA_ARRAY(s->model->arena, s->model->domains[c].count + 1,
						    uint64_t *);
	}
}

const uint64_t *prune_row(struct search *s, const struct value *value)
{
	bool is_system = takes_system_cuda(s);
	uint64_t **row = &s->rows[is_system][value->component][value->index];

	if (*row)
		return *row;
	*row = ARENA_ARRAY(s->model->arena, s->words, uint64_t);
	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct domain *domain = &s->model->domains[c];
		uint64_t *part = *row + s->offsets[c];

		for (size_t i = 0; i < domain->count; i++)
			if (rules_fit_pair(s->model, value, &domain->values[i]) &&
			    (!is_system || rules_fit_system(s->model, value, &domain->values[i])))
				part[i / 64] |= 1ULL << (i % 64);
	}
	return *row;
}

size_t prune_next(const struct search *s, const uint64_t *set, enum component c, size_t from)
{
	const uint64_t *part = set + s->offsets[c];
	size_t count = s->model->domains[c].count;

	while (from < count) {
		uint64_t word = part[from / 64] >> (from % 64);

		if (word)
			return from + (size_t)__builtin_ctzll(word);
		from = (from / 64 + 1) * 64;
	}
	return count;
}

/* Whether a known conflict concerns only these two. */
static bool is_known_conflict(const struct search *s, const struct value *a, const struct value *b)
{
	const struct model *model = s->model;

	for (size_t i = 0; i < model->conflict_words; i++)
		if (a->passes[i] & b->passes[i] & model->pair_rules[a->component][i] &
		    model->pair_rules[b->component][i] & ~s->waived[i])
			return true;
	return false;
}

/* Whether the set has a partner of component `c` for the value. */
static bool has_partner(const struct search *s, const uint64_t *set, const struct value *value,
			enum component c)
{
	const struct domain *domain = &s->model->domains[c];
	bool is_system = takes_system_cuda(s);

	for (size_t i = prune_next(s, set, c, 0); i < domain->count;
	     i = prune_next(s, set, c, i + 1))
		if (rules_fit_pair(s->model, value, &domain->values[i]) &&
		    (!is_system || rules_fit_system(s->model, value, &domain->values[i])) &&
		    !is_known_conflict(s, value, &domain->values[i]))
			return true;
	return false;
}

/*
 * Removes the values of `c` without a partner in one of `changed`. Returns whether it removed any.
 */
static bool prune_part(struct search *s, uint64_t *set, enum component c, uint32_t changed)
{
	const struct domain *domain = &s->model->domains[c];
	bool any = false;

	for (size_t i = prune_next(s, set, c, 0); i < domain->count;
	     i = prune_next(s, set, c, i + 1)) {
		bool fits = true;

		for (int d = 0; d < COMPONENT_COUNT && fits; d++)
			if ((changed & COMPONENT_BIT(d)) && d != (int)c)
				fits = has_partner(s, set, &domain->values[i], (enum component)d);
		if (fits)
			continue;
		set[s->offsets[c] + i / 64] &= ~(1ULL << (i % 64));
		any = true;
	}
	return any;
}

bool prune_consistent(struct search *s, uint64_t *set)
{
	uint32_t changed = s->parts;

	while (changed) {
		uint32_t next = 0;

		for (int c = 0; c < COMPONENT_COUNT; c++) {
			if (!(s->parts & COMPONENT_BIT(c)) ||
			    !prune_part(s, set, (enum component)c, changed | next))
				continue;
			next |= COMPONENT_BIT(c);
			if (prune_next(s, set, (enum component)c, 0) == s->model->domains[c].count)
				return false;
		}
		changed = next;
	}
	return true;
}
