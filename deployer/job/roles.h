/* SPDX-License-Identifier: MIT */
/* roles.h - ranks that are not all alike: what --roles says, and which rank has which role. */
#ifndef DEPLOYER_JOB_ROLES_H
#define DEPLOYER_JOB_ROLES_H

#include "core/arena.h"
#include "core/error.h"

#include <stdbool.h>

/* A role that a launcher knows. A list of them ends with a name that is NULL. */
struct job_role_kind {
	const char *name;
	int most;    /* ranks that may have it; 0: any number */
	bool serves; /* such a rank never ends by itself (struct job_task) */
	/* another role that means the same: a job has one of the two; NULL: none */
	const char *also;
};

struct job_role {
	const struct job_role_kind *kind;
	int count; /* of ranks */
};

/* The roles of ranks 0, 1, 2 ... in this order. Lives in an arena. */
struct job_roles {
	struct job_role *list;
	size_t count;
	int ranks; /* in all */
};

/*
 * Reads "chief=1,worker=2,ps=1". A role may stand there more than once. ERROR_USAGE lists the known
 * roles, or says why the job would never end.
 */
int job_roles_parse(const char *text, const struct job_role_kind *known, struct arena *arena,
		    struct job_roles *roles, struct error *err);

/* The role of a rank; *index is its number among the ranks of that role. */
const struct job_role_kind *job_role_of(const struct job_roles *roles, int rank, int *index);

/* Ranks with that role. */
int job_role_count(const struct job_roles *roles, const struct job_role_kind *kind);

#endif
