/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a resolved stack: one version per component, each with its reason and source, and the
 * image that it starts from. The resolver makes it, the lock keeps it, the recipe is written of it.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "core/json.h"
#include "plan/pinned.h"

#define PLAN_CHOICES_MAX 32 /* as many as there can be components (plan/component.h) */
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

/* The choice with this name, or NULL. */
const struct choice *plan_choice(const struct plan *plan, const char *name);

/* {"schema", "ok": true, "accelerator", "catalog", "requests", "stack": {NAME: {...}}} */
cJSON *plan_to_json(const struct plan *plan);
int plan_from_json(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err);

/*
 * {"schema", "ok": true, "stacks": [...]}, each what plan_to_json gives without "schema" and "ok".
 */
cJSON *stacks_to_json(void);
void stacks_add_plan(cJSON *json, const struct plan *plan);

#endif
