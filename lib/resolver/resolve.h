/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - one consistent stack out of the catalog, and one sentence per choice; or the proof
 * that there is none.
 *
 * Pure: reads nothing but its arguments. Frameworks are chosen first, then what they need; of each
 * component the newest version wins that every request, driver and GPU admits and that breaks no
 * rule. The rules are in rule_*.c and rules.c, the facts in the catalog (docs/catalog.md).
 */
#ifndef RESOLVER_RESOLVE_H
#define RESOLVER_RESOLVE_H

#include "core/json.h"
#include "plan/facts.h"
#include "plan/plan.h"
#include "plan/version.h"
#include "resolver/catalog.h"

struct conflict {
	const char *request, *because, *source;
};

#define CONFLICTS_MAX 8

/* Filled when resolve fails with ERROR_UNSATISFIED. */
struct unsatisfied {
	size_t count;
	struct conflict conflicts[CONFLICTS_MAX];
	const char *nothing; /* no request is to blame: why there is no stack at all, or NULL */
	size_t suggestion_count;
	const char *suggestions[CONFLICTS_MAX]; /* requests that would work */
	/* a mixed cluster that has no one stack: how it can be split, each group with a stack */
	size_t group_count;
	struct group {
		const char *members; /* "V100, driver 418.87"; or host names */
		const char *stack;   /* "tensorflow 2.3.0, cuda 10.1.243" */
	} groups[CONFLICTS_MAX];
};

/* One more request with its reason, in static or the arena's text; above CONFLICTS_MAX it is
 * dropped. */
static inline void unsatisfied_add(struct unsatisfied *why, const char *request,
				   const char *because, const char *source)
{
	if (why->count < CONFLICTS_MAX)
		why->conflicts[why->count++] = (struct conflict){request, because, source};
}

struct resolve_input {
	const char *const *requests; /* NULL-terminated REQ words */
	const char *accelerator;     /* auto, cpu or cuda */
	const struct facts *facts;   /* of every host; may be NULL */
	size_t fact_count;
	const char *base;	 /* image name that cluster.yaml gives, NULL or "auto": none */
	bool oldest;		 /* --prefer oldest */
	const struct plan *keep; /* versions to stay with where they still work; may be NULL */
	const char *const *move; /* names that are not kept; NULL: none */
};

/*
 * ERROR_USAGE: a word is no REQ or names nothing that is known. ERROR_UNSATISFIED: no stack; *why
 * says which requests stand against which facts, and what would work.
 */
int resolve(const struct catalog *catalog, const struct resolve_input *input, struct arena *arena,
	    struct plan *plan, struct unsatisfied *why, struct error *err);

/*
 * Calls `each` for every stack that differs in frameworks, Horovod, CUDA, OS or Python, best first,
 * the rest at its best, until it returns false or `limit` were given.
 */
int resolve_all(const struct catalog *catalog, const struct resolve_input *input, size_t limit,
		bool (*each)(const struct plan *plan, void *arg), void *arg, struct arena *arena,
		struct unsatisfied *why, struct error *err);

/*
 * Whether the plan is a stack of today's catalog for these requests and hosts: ERROR_UNSATISFIED
 * and *why when it breaks a rule, such as a driver that is too old for it. A plan with a version
 * that the catalog has no row of any more is taken as it is.
 */
int plan_check(const struct catalog *catalog, const struct resolve_input *input,
	       const struct plan *plan, struct arena *arena, struct unsatisfied *why,
	       struct error *err);

/* {"schema", "ok": false, "conflict": [...], "suggestions": [...]} */
cJSON *unsatisfied_to_json(const struct unsatisfied *why);

#endif
