/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a resolved stack: one version per component, each with its reason and source, and the
 * image that it starts from. The resolver makes it, the lock keeps it, and the recipe is made from
 * it.
 */
#ifndef PLAN_PLAN_H
#define PLAN_PLAN_H

#include "core/json.h"
#include "plan/arch.h"
#include "plan/pinned.h"

#define PLAN_CHOICES_MAX 32 /* as many as there can be components (plan/component.h) */
#define PLAN_NOTES_MAX 32
#define PLAN_ALLOW_MAX 32

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
	/* why the next newer version was not chosen; for --explain */
	const char *refused;
	/*
	 * The framework whose wheel brings it, "torch": nothing of it is installed beside, and where `pip` names a wheel,
	 * that one takes its place; or "".
	 */
	const char *wheel;
};

/* The image that a GPU stack starts from. */
struct plan_base {
	const char *name;     /* with registry and tag; "" in a plan without GPUs */
	const char *status;   /* listed, eol, gone, dockerfile, none */
	const char *replaces; /* the deleted tag that would be taken otherwise */
	const char *packages; /* packages to add to the OS's own image instead */
	const char *note, *source;
};

/* A rule that the stack breaks because a person has overruled it. */
struct overruled {
	const char *id, *because, *source;
};

struct plan {
	const char *accelerator; /* "cpu" (or "cuda") */
	const char *arch;	 /* the processor that it is for (arch.h); NULL: x86_64 */
	/*
	 * The same versions for the cluster's other processor, with packages and an image of its own;
	 * NULL: the hosts have one processor. It has no `other` itself.
	 */
	const struct plan *other;
	const char *revision; /* of the catalog */
	size_t request_count;
	const char **requests; /* as they were written */
	/* the rules that a person has overruled, by their ids, and those that the stack breaks */
	size_t allow_count, overruled_count;
	const char *allow[PLAN_ALLOW_MAX];
	struct overruled overruled[PLAN_ALLOW_MAX];
	size_t count;
	struct choice choices[PLAN_CHOICES_MAX];
	struct plan_base base;
	/* answers of archives and registries; `resolve` asks them only with --pin */
	struct pinned pinned;
	size_t note_count;
	const char *notes[PLAN_NOTES_MAX]; /* what the person must be told */
	size_t env_count;
	const char *env[4]; /* NAME=VALUE that the containers need */
};

/* "x86_64" or "aarch64". */
static inline const char *plan_arch(const struct plan *plan)
{
	return plan->arch ? plan->arch : ARCH_DEFAULT;
}

/* The choice with this name, or NULL. */
const struct choice *plan_choice(const struct plan *plan, const char *name);

/* Adds a rule to `overruled`, once. False when it is there already, or when there are too many. */
bool plan_overrule(struct plan *plan, const char *id, const char *because, const char *source);

/* Whether the stack breaks the rule. */
bool plan_breaks(const struct plan *plan, const char *id);

/*
 * {"schema", "ok": true, "accelerator", "arch", "catalog", "requests", "allow": [...],
 * "overruled": [{"id", "because", "source"}], "stack": {NAME: {...}}}. `allow` and `overruled` are
 * absent when they are empty, `arch` when it is x86_64, and `other`, the same for the cluster's other
 * processor, when it has one.
 */
cJSON *plan_to_json(const struct plan *plan);
int plan_from_json(const cJSON *json, struct arena *arena, struct plan *plan, struct error *err);

/*
 * {"schema", "ok": true, "stacks": [...]}. Each stack is plan_to_json's without "schema" and "ok".
 */
cJSON *stacks_to_json(void);
void stacks_add_plan(cJSON *json, const struct plan *plan);

#endif
