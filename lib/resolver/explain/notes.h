/* SPDX-License-Identifier: MIT */
/* notes.h - what must be said of a stack. */
#ifndef RESOLVER_EXPLAIN_NOTES_H
#define RESOLVER_EXPLAIN_NOTES_H

#include "resolver/explain/reason.h"

/* Adds a note, which lives as long as the plan; NULL and "" are none, and what is too much is left out. */
void plan_add_note(struct plan *plan, const char *note);

/*
 * What the catalog says of the image that a person gave as the base, and which CUDA runs where that one has another than a
 * framework's wheel.
 */
void plan_add_base_notes(struct plan *plan, const struct catalog *catalog, const char *base,
			 struct arena *arena);

/* Adds notes and container environment to a plan whose choices and base are set. */
void plan_add_notes(struct search *search, struct plan *plan);

#endif
