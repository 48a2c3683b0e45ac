/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - one consistent stack out of the catalog, and one sentence per choice; or the proof
 * that there is none.
 *
 * Pure: reads nothing but its arguments. Frameworks are chosen first, then what they need; of each
 * component the newest version wins that every request, driver and GPU admits and that breaks no
 * rule. The rules are in rule_*.c and rules.c, the facts in the catalog (docs/catalog.md).
 */
#ifndef PLAN_RESOLVE_H
#define PLAN_RESOLVE_H

#include "core/json.h"
#include "plan/catalog.h"
#include "plan/facts.h"
#include "plan/pinned.h"
#include "plan/version.h"

#define PLAN_CHOICES_MAX CATALOG_COMPONENTS_MAX
#define PLAN_NOTES_MAX 32

/* Text is never NULL; what does not apply is "". */
struct choice {
	const char *name, *version;
	const char *reason;	       /* one sentence */
	const char *source;	       /* ids of sources.csv, ';' between */
	const char *certainty;	       /* documented, inferred or unsourced */
	const char *run_packages;      /* ';' between exact package words */
	const char *build_packages;    /* needed in the build stage only */
	const char *pip, *index;       /* what pip installs, and its index ("": PyPI) */
	const char *download, *sha256; /* an archive; sha256 as hex digits, "" when not known */
	const char *refused;	       /* why the next newer one is not it; for --explain */
};

/* The image that a GPU stack starts from. */
struct plan_base {
	const char *name;     /* with registry and tag; "" in a plan without GPUs */
	const char *status;   /* listed, eol, gone, dockerfile, none */
	const char *replaces; /* the tag that is gone and would be taken otherwise */
	const char *packages; /* what makes up for it on the OS's own image */
	const char *note, *source;
};

struct plan {
	const char *accelerator; /* "cpu" (or "cuda") */
	const char *revision;	 /* of the catalog */
	size_t request_count;
	const char **requests; /* as they were written */
	size_t count;
	struct choice choices[PLAN_CHOICES_MAX];
	struct plan_base base;
	struct pinned pinned; /* what was asked of archives; `resolve` itself asks nobody */
	size_t note_count;
	const char *notes[PLAN_NOTES_MAX]; /* what must be said aloud */
	size_t env_count;
	const char *env[4]; /* NAME=VALUE that the containers need */
};

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

/* The choice with this name, or NULL. */
const struct choice *plan_choice(const struct plan *plan, const char *name);

/* {"schema", "ok": true, "accelerator", "catalog", "requests", "stack": {NAME: {...}}} */
cJSON *plan_to_json(const struct plan *plan);
int plan_from_json(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err);

/* {"schema", "ok": true, "stacks": [...]}, each what plan_to_json gives without "schema" and "ok".
 */
cJSON *stacks_to_json(void);
void stacks_add_plan(cJSON *json, const struct plan *plan);

/* {"schema", "ok": false, "conflict": [...], "suggestions": [...]} */
cJSON *unsatisfied_to_json(const struct unsatisfied *why);

#endif
