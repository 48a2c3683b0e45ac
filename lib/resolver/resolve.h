/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - one consistent stack from the catalog with one sentence per choice, or the proof that
 * no stack exists.
 *
 * It reads only its arguments. Frameworks are chosen first, then what they need. Of each component
 * the newest version wins that every request, driver and GPU admits and that breaks no rule. The
 * rules are in rule_*.c and rules.c, the facts in the catalog (docs/catalog.md).
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
	const char *nothing; /* why there is no stack even without requests, or NULL */
	const char *arch;    /* the processor that the stack would be for; NULL: x86_64 */
	size_t suggestion_count;
	const char *suggestions[CONFLICTS_MAX]; /* requests that would work */
	/* how a mixed cluster without a common stack can be split into groups with a stack each */
	size_t group_count;
	struct group {
		const char *members; /* "V100, driver 418.87"; or host names */
		const char *stack;   /* "tensorflow 2.3.0, cuda 10.1.243" */
	} groups[CONFLICTS_MAX];
	/* ids of rules (allow.h): with all of them overruled too, there is a stack */
	size_t allow_count;
	const char *allow[PLAN_ALLOW_MAX];
	/* "torch 2.15.0 is refused: CUDA 13.2.1 needs driver >=580": the stack that these rules refuse, with
	 * what `conflicts` does not say of it; or NULL */
	const char *allowed;
};

/*
 * Adds one request with its reason. The texts are static or in the arena. Requests past
 * CONFLICTS_MAX are dropped.
 */
static inline void unsatisfied_add(struct unsatisfied *why, const char *request,
				   const char *because, const char *source)
{
	if (why->count < CONFLICTS_MAX)
		why->conflicts[why->count++] = (struct conflict){request, because, source};
}

struct resolve_input {
	const char *const *requests; /* NULL-terminated REQ words */
	const char *accelerator;     /* auto, cpu or cuda */
	const char *arch;	     /* --arch: the processor (plan/arch.h); NULL: not named */
	/* image.platforms of cluster.yaml (arch_of_platform), for platforms.h; NULL or none: the hosts' */
	const char *const *platforms;
	const char *kept_arch;	   /* of the lock: where nothing else names one; NULL: none */
	const struct facts *facts; /* of every host; may be NULL */
	size_t fact_count;
	const char *base;	 /* image name that cluster.yaml gives, NULL or "auto": none */
	bool oldest;		 /* --prefer oldest */
	const struct plan *keep; /* versions to keep where they still work; may be NULL */
	const char *const *move; /* names whose versions are not kept; NULL: none */
	/* ids of rules that may be broken where nothing else works (allow.h); NULL: none */
	const char *const *allow;
	/* ids of warnings whose cause the caller has removed already; NULL: none */
	const char *const *met;
};

/*
 * Whether the stack is one for GPUs: as `accelerator` says, and for `auto` when a host has a driver or a request names a GPU component,
 * and not where torch's build for CPUs is asked for. A framework means GPUs, too, unless the hosts were probed and have none. Only
 * requests, accelerator and facts count.
 */
bool resolve_wants_gpus(const struct resolve_input *input, struct arena *arena);

/*
 * ERROR_USAGE: a word is not a REQ, or its name or the id of a rule is unknown. ERROR_UNSATISFIED: there is no stack,
 * and *why says which requests contradict which facts, and what would work.
 */
int resolve(const struct catalog *catalog, const struct resolve_input *input, struct arena *arena,
	    struct plan *plan, struct unsatisfied *why, struct error *err);

/*
 * Calls `each` for every stack that differs in frameworks, Horovod, CUDA, OS or Python, the best
 * one first. The other components have their best versions. It stops when `each` returns false or
 * after `limit` stacks.
 */
int resolve_all(const struct catalog *catalog, const struct resolve_input *input, size_t limit,
		bool (*each)(const struct plan *plan, void *arg), void *arg, struct arena *arena,
		struct unsatisfied *why, struct error *err);

/*
 * Whether the plan is a stack of today's catalog for these requests and hosts. ERROR_UNSATISFIED
 * and *why when it breaks a rule, for example because a driver is too old for it. A plan with a
 * version that is no longer in the catalog is accepted. What the plan breaks by `allow` on these hosts
 * is added to its `overruled`.
 */
int plan_check(const struct catalog *catalog, const struct resolve_input *input, struct plan *plan,
	       struct arena *arena, struct unsatisfied *why, struct error *err);

#endif
