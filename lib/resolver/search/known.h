/* SPDX-License-Identifier: MIT */
/*
 * known.h - known conflicts that the request words themselves break, so that the reason needs no
 * search.
 */
#ifndef RESOLVER_SEARCH_KNOWN_H
#define RESOLVER_SEARCH_KNOWN_H

#include "resolver/resolve.h"
#include "resolver/search/search.h"

/*
 * The row of conflicts.csv whose conditions all hold for every value that the units of the set (bit
 * per unit) admit, or NULL. If there are several, the one with the most conditions.
 */
const struct conflict_rule *known_conflict(const struct search *search, uint64_t set);

/* "horovod<=0.28.1 & torch>=2.1 do not go together: SYMPTOM; FIX". */
const char *known_sentence(const struct conflict_rule *rule, struct arena *arena);

/*
 * Gives the row as the reason of each unit of the set. A unit that names no component of the row
 * gets a sentence about what it leaves of such a component.
 */
void known_explain(struct search *search, uint64_t set, const struct conflict_rule *rule,
		   struct unsatisfied *why);

#endif
