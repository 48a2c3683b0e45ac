/* SPDX-License-Identifier: MIT */
/*
 * conflict.h - why there is no stack: the smallest set of units that exclude each other, the chain
 * of facts between them, and the nearest requests that would work.
 */
#ifndef RESOLVER_SEARCH_CONFLICT_H
#define RESOLVER_SEARCH_CONFLICT_H

#include "resolver/resolve.h"
#include "resolver/search/search.h"

/* The components of a stack with these units: frameworks and Horovod only when asked for. */
uint32_t stack_parts(const struct model *model, const struct units *units, uint64_t active);

/*
 * Why the first GPU of the active units that cannot be used cannot be, with the id of the rule (allow.h);
 * NULL when all can be used.
 */
const char *find_unusable(const struct search *search, uint64_t active, const struct unit **gpu,
			  const char **id);

/*
 * False when a host's driver is outside a requested range, or a known conflict refuses the hosts'
 * drivers and GPUs.
 */
bool pins_agree(struct search *search, uint64_t active);

/* Whether the units have any stack, at the highest level (enum search_level). */
bool units_work(struct search *search, uint64_t active);

/*
 * A smallest set of units that have no stack together: without any one of them there is a stack.
 * Bit per unit. 0 when there is no stack even without any request, because the catalog lacks
 * something.
 */
uint64_t conflict_set(struct search *search);

/* Fills the sentences and the suggestions of the set. */
void conflict_explain(struct search *search, uint64_t set, struct unsatisfied *why);

#endif
