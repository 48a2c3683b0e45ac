/* SPDX-License-Identifier: MIT */
/* overruled.h - the rules that a found stack breaks because a person has overruled them. */
#ifndef RESOLVER_EXPLAIN_OVERRULED_H
#define RESOLVER_EXPLAIN_OVERRULED_H

#include "plan/plan.h"
#include "resolver/rules/breach.h"

/* The id (allow.h) of the rule that the value breaks; in the arena. */
const char *breach_id(const struct value *value, const struct breach *breach, struct arena *arena);

/*
 * Adds each rule that the stack of search->now breaks to the plan's `overruled`, once, with the
 * sentence of the first breach. Allowing these ids is enough for this stack.
 */
void overruled_find(const struct search *search, struct plan *plan);

#endif
