/* SPDX-License-Identifier: MIT */
/* host_notes.h - notes on what the hosts have. */
#ifndef RESOLVER_EXPLAIN_HOST_NOTES_H
#define RESOLVER_EXPLAIN_HOST_NOTES_H

#include "resolver/explain/reason.h"

/* Adds the known conflicts that hold on these hosts with this stack. */
void plan_add_host_notes(const struct search *search, const struct facts *facts, size_t count,
			 struct plan *plan);

#endif
