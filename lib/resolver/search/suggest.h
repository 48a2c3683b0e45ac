/* SPDX-License-Identifier: MIT */
/* suggest.h - the nearest requests that would work. */
#ifndef RESOLVER_SEARCH_SUGGEST_H
#define RESOLVER_SEARCH_SUGGEST_H

#include "resolver/search/conflict.h"

/* Adds the nearest requests that would work. Each changes one unit of the set. */
void conflict_suggest(struct search *search, uint64_t set, struct unsatisfied *why);

#endif
