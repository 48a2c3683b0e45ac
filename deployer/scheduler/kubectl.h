/* SPDX-License-Identifier: MIT */
/* kubectl.h - kubectl's command lines, its answers, and what to do about its complaints. Text lives in the arena. */
#ifndef DEPLOYER_SCHEDULER_KUBECTL_H
#define DEPLOYER_SCHEDULER_KUBECTL_H

#include "core/json.h"
#include "core/words.h"
#include "deployer/scheduler/kubernetes.h"

/* Each kind: what kubectl calls it, how its pods are found, and what makes them. */
struct kubernetes_kind {
	const char *name, *resource, *label, *maker;
};

struct kubectl_said {
	const char *out, *err;
	int status;
};

/* NULL: there is none of that name. */
const struct kubernetes_kind *kubectl_kind(const char *name);

/* "kubectl" with its place; values behind "=", so that none of them is an option. */
void kubectl_begin(const struct kubernetes_site *site, struct words *words);

/* An error only when kubectl cannot be run; what it complains of is in *said. */
int kubectl_run(const struct kubernetes_site *site, const char *const *more, const char *input,
		struct arena *arena, struct kubectl_said *said, struct error *err);

/* What kubectl prints as JSON; NULL with *said where it fails. The caller frees it. */
int kubectl_get(const struct kubernetes_site *site, const char *const *more, struct arena *arena,
		struct kubectl_said *said, cJSON **json, struct error *err);

/* What to do about words of kubectl and of the server; "": nothing is known. */
const char *kubectl_advice(const char *said);

/* -1, with the error: what failed and where, kubectl's words, and the advice. */
int kubectl_failed(const struct kubernetes_site *site, const char *what, const char *kind,
		   const struct kubectl_said *said, enum error_kind error, struct arena *arena,
		   struct error *err);

#endif
