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

/* Adds notes and container environment to a plan whose choices and base are set. */
void plan_add_notes(struct search *search, struct plan *plan);

/* Adds the known conflicts that hold on these hosts with this stack. */
void plan_add_host_notes(const struct search *search, const struct facts *facts, size_t count,
			 struct plan *plan);

#endif
