/* SPDX-License-Identifier: MIT */
/*
 * search.h - the first assignment, in the order of preference, that breaks no rule.
 *
 * Depth first with conflict-directed backjumping (Prosser, "Hybrid Algorithms for the Constraint
 * Satisfaction Problem", 1993): when no value of a component fits, the search goes back to the
 * latest component that one of its values was refused for, and skips those in between.
 */
#ifndef PLAN_SEARCH_H
#define PLAN_SEARCH_H

#include "plan/request.h"

/* What is allowed only when nothing else works, in this order. */
enum search_level {
	LEVEL_PLAIN,	     /* what OSes and drivers have */
	LEVEL_SOURCE_PYTHON, /* a Python that the OS does not have */
	LEVEL_COMPAT,	     /* CUDA's forward compatibility */
	LEVEL_COUNT
};

struct assignment {
	const struct value *chosen[COMPONENT_COUNT]; /* NULL: not part of the stack */
};

/* What was broken where the search got furthest; for explanations. */
struct trace {
	bool on, last; /* last: of several at one depth, that of the oldest value */
	int depth;
	const char *text, *source; /* NULL: nothing was */
};

struct search {
	const struct model *model;
	const struct units *units;
	uint64_t active; /* bit per unit that counts */
	enum search_level level;
	uint32_t parts;				    /* components of the stack */
	const struct value *fixed[COMPONENT_COUNT]; /* the only value allowed, or NULL */
	const char *const *hints;		    /* versions to try first, or NULL */
	const char *without; /* text of the conflict rules that do not count, or NULL */
	struct assignment now;
	struct trace trace;
	/* the search's own */
	const struct value **lists[COMPONENT_COUNT]; /* what the units admit */
	size_t counts[COMPONENT_COUNT];
	uint64_t *threats[COMPONENT_COUNT]; /* conflicts that the next value of it could complete */
};

/* Sets up a search over the units; `parts` are the components of the stack. */
void search_init(struct search *search, const struct model *model, const struct units *units,
		 uint32_t parts);

/* Whether there is an assignment; it stands in search->now then. */
bool search_run(struct search *search);

/* Whether the active units admit the value by themselves. */
bool search_admits(const struct search *search, const struct value *value);

#endif
