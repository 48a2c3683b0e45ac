/* SPDX-License-Identifier: MIT */
/*
 * search.h - the first assignment, in the order of preference, that breaks no rule.
 *
 * Depth first with conflict-directed backjumping (Prosser, "Hybrid Algorithms for the Constraint
 * Satisfaction Problem", 1993): when no value of a component fits, the search goes back to the
 * latest component that one of the refusals was about, and skips those in between. Every choice
 * removes the values that do not fit it from the later components (forward checking). A component
 * without any value left sends the search back at once.
 */
#ifndef RESOLVER_SEARCH_SEARCH_H
#define RESOLVER_SEARCH_SEARCH_H

#include "resolver/request.h"

/* What is allowed only when nothing else works, in this order. */
enum search_level {
	LEVEL_PLAIN,	     /* what OSes and drivers have */
	LEVEL_SERIES,	     /* gcc 8 of another OS where gcc==8.3.0 was asked for */
	LEVEL_SOURCE_PYTHON, /* a Python that the OS does not have */
	LEVEL_COMPAT,	     /* CUDA's forward compatibility */
	LEVEL_COUNT
};

struct assignment {
	const struct value *chosen[COMPONENT_COUNT]; /* NULL: not part of the stack */
};

/* The rule that was broken where the search got furthest; for explanations. */
struct trace {
	bool on, last; /* last: of several at one depth, keep that of the oldest value */
	int depth;
	const char *text, *source; /* NULL: no rule was broken */
};

/* A value of a component with its rank. */
struct ranked {
	const struct value *value;
	int rank;
};

struct search {
	const struct model *model;
	const struct units *units;
	uint64_t active; /* bit per unit that counts */
	uint32_t named;	 /* components of units that do not, and that a suggestion names again */
	enum search_level level;
	uint32_t parts;				    /* components of the stack */
	const struct value *fixed[COMPONENT_COUNT]; /* the only value allowed, or NULL */
	const char *const *hints;		    /* versions to try first, or NULL */
	/* a set that search_fill made with the same units and level: only its values are tried; or NULL */
	const uint64_t *within;
	bool is_unranked; /* any stack is enough, not the best one */
	uint64_t *waived; /* bit per conflict rule that does not count */
	/* for sets of units of which nothing is compiled (conflict.c); NULL until it is made */
	struct search *uncompiled;
	size_t budget; /* gives up after so many tried values; 0: never */
	struct assignment now;
	struct trace trace;
	/* the search's own; sets as in prune.h */
	size_t nodes, limit;			/* values tried, and when to give up; 0: never */
	size_t offsets[COMPONENT_COUNT], words; /* where each component begins in a set */
	/* per value: what fits it; NULL until it is made */
	uint64_t **rows[2][COMPONENT_COUNT];		       /* [1]: where takes_system_cuda */
	uint64_t *live[COMPONENT_COUNT + 1];		       /* per depth: what is still open */
	uint32_t pruned[COMPONENT_COUNT + 1][COMPONENT_COUNT]; /* what took values away */
	struct ranked *ranked[COMPONENT_COUNT];
	uint64_t *threats[COMPONENT_COUNT]; /* conflicts that its next value could complete */
};

/* Sets up a search over the units; `parts` are the components of the stack. */
void search_init(struct search *search, const struct model *model, const struct units *units,
		 uint32_t parts);

/*
 * The domain's values in the order in which a search with the values fixed so far would try them, domain->count of
 * them, in the model's arena. Changes search->now.
 */
const struct ranked *search_order(struct search *search, const struct domain *domain);

/* Whether there is an assignment. It is in search->now then. */
bool search_run(struct search *search);

/* Fills the set (prune.h) with all that the units admit. False when a component has no value. */
bool search_fill(struct search *search, uint64_t *set);

/* Whether the active units admit the value, without regard to any other value. */
bool search_admits(const struct search *search, const struct value *value);

/* How many values of the component the units admit, and the first of them. */
size_t search_candidates(const struct search *search, enum component component,
			 const struct value **first);

#endif
