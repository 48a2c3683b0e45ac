/* SPDX-License-Identifier: MIT */
/* groups.h - how a mixed cluster that has no one stack can be split so that each part has one. */
#ifndef RESOLVER_SEARCH_GROUPS_H
#define RESOLVER_SEARCH_GROUPS_H

#include "resolver/search/conflict.h"

/*
 * When the conflict is about several drivers or several GPU models: puts each into the first group
 * that still has a stack with it. No groups when one of them has no stack even alone.
 */
void groups_find(struct search *search, uint64_t set, struct unsatisfied *why);

#endif
