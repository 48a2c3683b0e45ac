/* SPDX-License-Identifier: MIT */
/*
 * kubernetes.h - Kubernetes through kubectl, with its configuration, contexts, namespaces and logins, whatever they are.
 * Text lives in the arena and is never NULL.
 */
#ifndef DEPLOYER_SCHEDULER_KUBERNETES_H
#define DEPLOYER_SCHEDULER_KUBERNETES_H

#include "core/arena.h"
#include "core/error.h"
#include "deployer/scheduler/overview.h"
#include "deployer/scheduler/scheduler.h"

/* Where a job goes. */
struct kubernetes_site {
	const char *context; /* of kubectl's configuration; "" inside of a cluster */
	const char *space;   /* the namespace */
};

/* What kubectl's configuration says, where `context` or `space` is "". ERROR_USAGE when there is no such context. */
int kubernetes_site(const char *context, const char *space, struct arena *arena,
		    struct kubernetes_site *site, struct error *err);

/* Whether the cluster knows the kind: "pytorchjob". An error when it does not answer. */
int kubernetes_knows(const struct kubernetes_site *site, const char *kind, struct arena *arena,
		     bool *knows, struct error *err);

#define KUBERNETES_SECRET_SUFFIX "-secret" /* behind the job's name: what its ranks share */

/*
 * Makes the objects of FOLDER/job.yaml, the last of which is the job `name` of that kind, and writes down where it is
 * and its `roles` ("chief=1,worker=2"; "": all ranks are alike). With `has_secret` there is a Secret NAME-secret first,
 * with 32 random bytes as hex. Either all of it is made, or nothing stays.
 * *id is "KIND/NAME".
 */
int kubernetes_submit(const struct kubernetes_site *site, const char *kind, const char *name,
		      const char *roles, bool has_secret, const char *folder, struct arena *arena,
		      const char **id, struct error *err);

/* A job of kubernetes_submit. */
extern const struct scheduler scheduler_kubernetes;

/* All nodes with their GPUs, and the queues of Kueue in the namespace where it is. */
int kubernetes_look(const struct kubernetes_site *site, struct arena *arena,
		    struct scheduler_overview *overview, struct error *err);

#endif
