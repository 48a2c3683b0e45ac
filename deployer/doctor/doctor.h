/* SPDX-License-Identifier: MIT */
/*
 * doctor.h - what findings know of a fleet beside its facts: the cluster, its stack, and what hosts try.
 */
#ifndef DEPLOYER_DOCTOR_DOCTOR_H
#define DEPLOYER_DOCTOR_DOCTOR_H

#include "deployer/doctor/findings.h"
#include "deployer/fleet.h"

/* What is known of the stack of ringup.lock. */
struct doctor_stack {
	const char *accelerator;    /* "" where there is no lock */
	const char *const *misfits; /* by member->index: why it does not fit an active one, or "" */
};

/*
 * Lets every active member try to reach the others (remote/tries.sh), in one round trip, and keeps
 * what each says in said[member->index]. A member whose try fails is not failed: it has no result.
 */
void doctor_try(struct fleet *fleet, const char **said);

/*
 * A patient for each active member of a probed fleet, with what it said of its tries (NULL: nothing).
 * Returns how many there are; *patients is in the fleet's arena.
 */
size_t doctor_patients(const struct fleet *fleet, const struct doctor_stack *stack,
		       const char *const *said, struct patient **patients);

/*
 * "docker0 172.17.0.1/16": an interface other than the cluster's whose IPv4 network has addresses in
 * common with `cidr`; "" when there is none. `networks` is the fact of that name.
 */
const char *doctor_overlap(const char *cidr, const char *interface, const char *networks,
			   struct arena *arena);

#endif
