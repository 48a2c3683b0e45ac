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

/* Whether they fit by all rules of pairs, when the cells of `a` admit `b`. `is_system`: the stack takes the system's CUDA. */
static bool fit_admitted(const struct search *s, const struct value *a, const struct value *b,
			 bool is_system)
{
	return rules_fit_admitted(s->model, a, b) &&
	       (!is_system || rules_fit_system(s->model, a, b));
}

/* Fills the part of a row that is about one component. */
static void fill_part(const struct search *s, const struct value *value, enum component c,
		      bool is_system, uint64_t *part)
{
	const struct domain *domain = &s->model->domains[c];
	const uint64_t *admitted = rules_admitted(s->model, value, c);

	for (size_t word = 0; word * 64 < domain->count; word++) {
		uint64_t left = admitted ? admitted[word] : ~0ULL;

		part[word] = left;
		if (!rules_concern(s->model, value->component, c))
			continue;
		for (; left; left &= left - 1) {
			size_t i = word * 64 + (size_t)__builtin_ctzll(left);

			if (i < domain->count &&
			    !fit_admitted(s, value, &domain->values[i], is_system))
				part[word] &= ~(left & -left);
		}
	}
}

const uint64_t *prune_row(struct search *s, const struct value *value)
{
	bool is_system = takes_system_cuda(s);
	uint64_t **row = &s->rows[is_system][value->component][value->index];

	if (*row)
		return *row;
	*row = ARENA_ARRAY(s->model->arena, s->words, uint64_t);
	for (int c = (int)value->component + 1; c < COMPONENT_COUNT; c++)
		fill_part(s, value, (enum component)c, is_system, *row + s->offsets[c]);
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

/* The components of `among` with which a value of `c` may not go. */
static uint32_t concerned(const struct search *s, enum component c, uint32_t among)
{
	const struct model *model = s->model;
	uint32_t found = 0;

	for (int d = 0; d < COMPONENT_COUNT; d++) {
		bool any = rules_concern(model, c, (enum component)d);

		if (!(among & COMPONENT_BIT(d)) || d == (int)c)
			continue;
		for (size_t i = 0; i < model->conflict_words; i++)
			any |= model->pair_rules[c][i] & model->pair_rules[d][i] & ~s->waived[i];
		if (any)
			found |= COMPONENT_BIT(d);
	}
	return found;
}

/* Whether the set has a partner of component `c` for the value. */
static bool has_partner(const struct search *s, const uint64_t *set, const struct value *value,
			enum component c)
{
	const struct domain *domain = &s->model->domains[c];
	const uint64_t *admitted = rules_admitted(s->model, value, c);
	const uint64_t *part = set + s->offsets[c];
	bool is_system = takes_system_cuda(s);

	for (size_t word = 0; word * 64 < domain->count; word++)
		for (uint64_t left = part[word] & (admitted ? admitted[word] : ~0ULL); left;
		     left &= left - 1) {
			const struct value *other =
				&domain->values[word * 64 + (size_t)__builtin_ctzll(left)];

			if (fit_admitted(s, value, other, is_system) &&
			    !is_known_conflict(s, value, other))
				return true;
		}
	return false;
}

/*
 * Removes the values of `c` without a partner in one of `changed`. Returns whether it removed any.
 */
static bool prune_part(struct search *s, uint64_t *set, enum component c, uint32_t changed)
{
	const struct domain *domain = &s->model->domains[c];
	uint32_t others = concerned(s, c, changed);
	bool any = false;

	for (size_t i = prune_next(s, set, c, 0); i < domain->count;
	     i = prune_next(s, set, c, i + 1)) {
		bool fits = true;

		for (uint32_t left = others; left && fits; left &= left - 1)
			fits = has_partner(s, set, &domain->values[i],
					   (enum component)__builtin_ctz(left));
		if (fits)
			continue;
		set[s->offsets[c] + i / 64] &= ~(1ULL << (i % 64));
		any = true;
	}
	return any;
}

static bool is_empty(const struct search *s, const uint64_t *set, enum component c)
{
	return prune_next(s, set, c, 0) == s->model->domains[c].count;
}

bool prune_consistent(struct search *s, uint64_t *set)
{
	uint32_t changed = s->parts;

	for (int c = 0; c < COMPONENT_COUNT; c++)
		if ((s->parts & COMPONENT_BIT(c)) && is_empty(s, set, (enum component)c))
			return false;
	while (changed) {
		uint32_t next = 0;

		for (int c = 0; c < COMPONENT_COUNT; c++) {
			if (!(s->parts & COMPONENT_BIT(c)) ||
			    !prune_part(s, set, (enum component)c, changed | next))
				continue;
			next |= COMPONENT_BIT(c);
			if (is_empty(s, set, (enum component)c))
				return false;
		}
		changed = next;
	}
	return true;
}
