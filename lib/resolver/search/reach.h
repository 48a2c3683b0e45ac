/* SPDX-License-Identifier: MIT */
/*
 * reach.h - which values can be in any stack with some of the units. For many values it costs far
 * less than one search per value.
 */
#ifndef RESOLVER_SEARCH_REACH_H
#define RESOLVER_SEARCH_REACH_H

#include "resolver/search/search.h"

struct reach {
	struct search *search;
	uint64_t active;
	bool is_dead;	/* the units exclude each other in every stack */
	uint32_t parts; /* of a stack with these units */
	/*
	 * consistent sets (prune.h) of the parts, and of the parts with one more component; NULL:
	 * not made yet
	 */
	uint64_t *own, *with[COMPONENT_COUNT];
	uint64_t *found; /* values that were found in a stack */
};

/* In the model's arena; the search's units must not change while it is used. */
void reach_init(struct reach *reach, struct search *search, uint64_t active);

/* Whether there is a stack with the active units that has the value. */
bool reach_has(struct reach *reach, const struct value *value);

#endif
