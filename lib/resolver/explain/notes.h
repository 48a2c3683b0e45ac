/* SPDX-License-Identifier: MIT */
/* notes.h - what must be said of a stack. */
#ifndef RESOLVER_EXPLAIN_NOTES_H
#define RESOLVER_EXPLAIN_NOTES_H

#include "resolver/explain/reason.h"

/* Adds notes and container environment to a plan whose choices and base are set. */
void plan_add_notes(struct search *search, struct plan *plan);

#endif
