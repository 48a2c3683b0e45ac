/* SPDX-License-Identifier: MIT */
/*
 * known.h - known conflicts that requests break by their own words: no search stands between them
 * and the reason.
 */
#ifndef RESOLVER_SEARCH_KNOWN_H
#define RESOLVER_SEARCH_KNOWN_H

#include "resolver/resolve.h"
#include "resolver/search/search.h"

/*
 * The row of conflicts.csv all of whose conditions hold for every value that the units of the set
 * (bit per unit) admit, or NULL. Of several the one with the most conditions.
 */
const struct conflict_rule *known_conflict(const struct search *search, uint64_t set);

/* "horovod<=0.28.1 & torch>=2.1 do not go together: SYMPTOM; FIX". */
const char *known_sentence(const struct conflict_rule *rule, struct arena *arena);

/*
 * Says of each unit of the set that the row is why; of one that names no part of it, what it leaves
 * of a part.
 */
void known_explain(struct search *search, uint64_t set, const struct conflict_rule *rule,
		   struct unsatisfied *why);

#endif
