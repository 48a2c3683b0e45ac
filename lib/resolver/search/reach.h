/* SPDX-License-Identifier: MIT */
/*
 * reach.h - which values can be in a stack at all, with some of the units; asked for many values,
 * it costs far less than a search each.
 */
#ifndef RESOLVER_SEARCH_REACH_H
#define RESOLVER_SEARCH_REACH_H

#include "resolver/search/search.h"

struct reach {
	struct search *search;
	uint64_t active;
	bool is_dead;	/* they exclude each other whatever the stack is */
	uint32_t parts; /* of a stack with these units */
	/*
	 * consistent sets (prune.h): of the parts, and with one component more; NULL: not made yet
	 */
	uint64_t *own, *with[COMPONENT_COUNT];
	uint64_t *found; /* seen in a stack */
};

/* In the model's arena; the search's units must not change while it is used. */
void reach_init(struct reach *reach, struct search *search, uint64_t active);

/* Whether there is a stack with the active units that has the value. */
bool reach_has(struct reach *reach, const struct value *value);

#endif
