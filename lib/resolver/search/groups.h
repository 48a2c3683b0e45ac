/* SPDX-License-Identifier: MIT */
/* groups.h - how to split a mixed cluster without a common stack so that each part has a stack. */
#ifndef RESOLVER_SEARCH_GROUPS_H
#define RESOLVER_SEARCH_GROUPS_H

#include "resolver/search/conflict.h"

/*
 * For a conflict about several drivers or several GPU models: puts each into the first group that
 * still has a stack with it. There are no groups when one of them has no stack even on its own.
 */
void groups_find(struct search *search, uint64_t set, struct unsatisfied *why);

#endif
