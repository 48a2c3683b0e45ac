/* SPDX-License-Identifier: MIT */
/* leftovers.h - what is left on hosts of a job whose supervisors were killed (kill -9, out of memory). */
#ifndef DEPLOYER_JOB_LEFTOVERS_H
#define DEPLOYER_JOB_LEFTOVERS_H

#include "deployer/fleet.h"

/*
 * Ends every process with the job's id in its environment (RINGUP_JOB_ID) on the fleet's hosts: SIGTERM, SIGKILL after
 * grace_s seconds, and at most 3 seconds more. *count is how many there were. A host without a running container has none. A host that fails is a failed member.
 */
void job_end_leftovers(struct fleet *fleet, const char *id, int grace_s, int *count);

#endif
