/* SPDX-License-Identifier: MIT */
/*
 * pivot.h - the chain of facts of a conflict: a component of which each unit of the set leaves some
 * values, and all of them together leave none.
 */
#ifndef RESOLVER_SEARCH_PIVOT_H
#define RESOLVER_SEARCH_PIVOT_H

#include "resolver/resolve.h"
#include "resolver/search/search.h"

/* Explains for each unit of the set what it leaves of the first such component, and why. */
void pivot_explain(struct search *search, uint64_t set, struct unsatisfied *why);

/*
 * What the unit on its own leaves of the component, "it leaves torch >= 2.2.0 (...)", when all of
 * it passes the needs (NULL: any). NULL when it also leaves something else, or excludes nothing.
 */
const char *pivot_leaves(struct search *search, size_t unit, enum component component,
			 const struct needs *needs, const char **source);

#endif
