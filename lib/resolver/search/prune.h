/* SPDX-License-Identifier: MIT */
/*
 * prune.h - sets of values, and which of their values cannot be in any stack.
 *
 * A set has one bit per value of every component; each component begins at a new word. The search
 * narrows one set per depth (forward checking). Where that is not enough, prune_consistent first
 * removes every value for which some component has no partner (arc consistency, AC-1 over the
 * components that changed).
 */
#ifndef RESOLVER_SEARCH_PRUNE_H
#define RESOLVER_SEARCH_PRUNE_H

#include "resolver/search/search.h"

/* Sets up search->offsets, ->words and ->rows. */
void prune_init(struct search *search);

/*
 * The set of all values of later components that fit the value pair by pair. It is made at the first call and
 * belongs to the search.
 */
const uint64_t *prune_row(struct search *search, const struct value *value);

/* Words of the component's part of a set. */
size_t prune_words(const struct search *search, enum component component);

/*
 * The lowest index from `from` on in the component's part of the set; the domain's count if none.
 */
size_t prune_next(const struct search *search, const uint64_t *set, enum component component,
		  size_t from);

/* False when a component of the stack has no value left. */
bool prune_consistent(struct search *search, uint64_t *set);

#endif
