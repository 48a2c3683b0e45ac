/* SPDX-License-Identifier: MIT */
/*
 * prune.h - sets of values, and what of them cannot be in any stack.
 *
 * A set is one bit per value of every component, a word border between components. The search
 * narrows one set per depth (forward checking); where that is not enough, prune_consistent first
 * takes out every value that some component has no partner for (arc consistency, AC-1 over the
 * components that changed).
 */
#ifndef RESOLVER_SEARCH_PRUNE_H
#define RESOLVER_SEARCH_PRUNE_H

#include "resolver/search/search.h"

/* Sets up search->offsets, ->words and ->rows. */
void prune_init(struct search *search);

/* All that goes with the value pair by pair, made at the first call for it. Not the caller's. */
const uint64_t *prune_row(struct search *search, const struct value *value);

/* Words of the component's part of a set. */
size_t prune_words(const struct search *search, enum component component);

/* The lowest index from `from` on that is in the component's part; the domain's count if none. */
size_t prune_next(const struct search *search, const uint64_t *set, enum component component,
		  size_t from);

/* False when a component of the stack has no value left. */
bool prune_consistent(struct search *search, uint64_t *set);

#endif
