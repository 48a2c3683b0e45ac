/* SPDX-License-Identifier: MIT */
/*
 * resolve.h - one consistent stack out of the catalog, and one sentence per choice.
 *
 * Pure: reads nothing but its arguments. The newest row that every request admits wins; the OS is
 * chosen first, because the other rows depend on it.
 */
#ifndef PLAN_RESOLVE_H
#define PLAN_RESOLVE_H

#include "core/json.h"
#include "plan/catalog.h"
#include "plan/facts.h"
#include "plan/version.h"

#define PLAN_CHOICES_MAX CATALOG_COMPONENTS_MAX

struct choice {
	const char *name, *version;
	const char *reason;	    /* one sentence */
	const char *source;	    /* ids of sources.csv */
	const char *run_packages;   /* ';' between exact package words; "" when none */
	const char *build_packages; /* needed in the build stage only */
};

struct plan {
	const char *accelerator; /* "cpu" (or "cuda") */
	const char *revision;	 /* of the catalog */
	size_t request_count;
	const char **requests; /* as they were written */
	size_t count;
	struct choice choices[PLAN_CHOICES_MAX];
};

struct conflict {
	const char *request, *because, *source;
};

#define CONFLICTS_MAX 8

/* Filled when resolve fails with ERROR_UNSATISFIED. */
struct unsatisfied {
	size_t count;
	struct conflict conflicts[CONFLICTS_MAX];
	size_t suggestion_count;
	const char *suggestions[CONFLICTS_MAX]; /* requests that would work */
};

struct resolve_input {
	const char *const *requests; /* NULL-terminated REQ words */
	const char *accelerator;     /* auto, cpu or cuda */
	const struct facts *facts;   /* of every host; may be NULL */
	size_t fact_count;
};

/*
 * ERROR_USAGE: a word is no REQ or names nothing that is known. ERROR_UNSATISFIED: no stack; *why
 * says which requests stand against which facts, and what would work.
 */
int resolve(const struct catalog *catalog, const struct resolve_input *input, struct arena *arena,
	    struct plan *plan, struct unsatisfied *why, struct error *err);

/* The choice with this name, or NULL. */
const struct choice *plan_choice(const struct plan *plan, const char *name);

/* {"schema", "ok": true, "accelerator", "catalog", "requests", "stack": {NAME: {...}}} */
cJSON *plan_to_json(const struct plan *plan);
int plan_from_json(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err);

/* {"schema", "ok": false, "conflict": [...], "suggestions": [...]} */
cJSON *unsatisfied_to_json(const struct unsatisfied *why);

#endif
