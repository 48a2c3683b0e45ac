/* SPDX-License-Identifier: MIT */
#include "resolver/search/reach.h"

#include "resolver/search/conflict.h"
#include "resolver/search/prune.h"

void reach_init(struct reach *reach, struct search *s, uint64_t active)
{
	*reach = (struct reach){
		.search = s,
		.active = active,
		.is_dead = !pins_agree(s, active),
		.parts = stack_parts(s->model, s->units, active),
		.found = ARENA_ARRAY(s->model->arena, s->words, uint64_t),
	};
}

static const uint64_t *open_for(struct reach *reach, enum component c)
{
	struct search *s = reach->search;
	uint64_t **set = reach->parts & COMPONENT_BIT(c) ? &reach->own : &reach->with[c];

	if (*set)
		return *set;
	*set = ARENA_ARRAY(s->model->arena, s->words, uint64_t);
	search_fill(s, *set);
	/* when one component has no value, the others have none either */
	if (!prune_consistent(s, *set))
		for (size_t i = 0; i < s->words; i++)
			(*set)[i] = 0;
	return *set;
}

static size_t bit_of(const struct search *s, const struct value *value)
{
	return s->offsets[value->component] * 64 + value->index;
}

static void keep_found(struct reach *reach)
{
	const struct search *s = reach->search;

	for (int c = 0; c < COMPONENT_COUNT; c++) {
		const struct value *value = s->now.chosen[c];
		size_t bit = value ? bit_of(s, value) : 0;

		if (value)
			reach->found[bit / 64] |= 1ULL << (bit % 64);
	}
}

bool reach_has(struct reach *reach, const struct value *value)
{
	struct search *s = reach->search;
	enum component c = value->component;
	size_t bit = bit_of(s, value);
	bool has;

	if (reach->is_dead || bit_is_set(reach->found, bit))
		return !reach->is_dead;
	s->active = reach->active;
	s->parts = components_with_bases(reach->parts | COMPONENT_BIT(c));
	s->within = open_for(reach, c);
	has = bit_is_set(s->within, bit);
	if (has) {
		s->fixed[c] = value;
		s->is_unranked = true;
		has = search_run(s);
		s->is_unranked = false;
		s->fixed[c] = NULL;
	}
	s->within = NULL;
	if (has)
		keep_found(reach);
	return has;
}
