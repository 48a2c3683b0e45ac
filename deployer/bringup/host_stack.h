/* SPDX-License-Identifier: MIT */
/*
 * host_stack.h - whether hosts without containers have the libraries that ringup.lock names.
 *
 * deployer/remote/versions.sh says what a host has, in lines NAME=VERSION. Nothing of ringup installs a stack on a
 * host: a person runs the script of `ringup recipe --format script` there, or has other ways.
 */
#ifndef DEPLOYER_BRINGUP_HOST_STACK_H
#define DEPLOYER_BRINGUP_HOST_STACK_H

#include "deployer/fleet.h"
#include "plan/plan.h"

/*
 * Compares the library of a line NAME=VERSION with the plan. Returns "torch 2.1.0, where ringup.lock has 2.4.0", in
 * the arena; NULL: the versions are the same, or the plan does not have the library. What follows a '+' or a '-' in a
 * version names a build and is not compared, and of Python only the minor version counts.
 */
const char *host_stack_differs(const struct plan *plan, const char *line, struct arena *arena);

/*
 * Adds the same rules as lines of a `case` for bash, for nodes that ringup does not ask itself: of "$line" they set
 * `what` to the text of host_stack_differs, and leave it alone where there is none.
 */
void host_stack_add_cases(const struct plan *plan, struct str *out);

/*
 * Asks every member, and warns once for all hosts with the same answer: what differs, and which of the plan's frameworks
 * are missing. The Python that is asked is that of the host script, or else `python3`. A member that cannot be reached
 * fails; one that gives no answer is warned of.
 */
void fleet_check_stack(struct fleet *fleet, const struct plan *plan);

/*
 * Asks every member, and adds what all that answer have in the same version, as requests: "python==3.12",
 * "torch==2.11.0", "openmpi==4.1.6"; "nccl==2.28.3" where no framework brings one of its own.
 */
void fleet_read_stack(struct fleet *fleet, struct words *out);

#endif
