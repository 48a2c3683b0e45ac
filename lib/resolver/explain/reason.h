/* SPDX-License-Identifier: MIT */
/*
 * reason.h - turns a found assignment into a plan: one choice per component with a one-sentence
 * reason, exact packages, and notes that the person must see.
 */
#ifndef RESOLVER_EXPLAIN_REASON_H
#define RESOLVER_EXPLAIN_REASON_H

#include "resolver/resolve.h"
#include "resolver/search/search.h"

/* The search has run and found something. */
void plan_from_search(struct search *search, struct plan *plan);

#endif
