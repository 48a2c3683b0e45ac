/* SPDX-License-Identifier: MIT */
/*
 * spawn.h - programs that mpirun or horovodrun on the first host starts on other hosts: ringup hands
 * them to the supervisors there (images/worker/job/protocol.h, "spawn").
 */
#ifndef DEPLOYER_JOB_SPAWN_H
#define DEPLOYER_JOB_SPAWN_H

#include "deployer/job/plan.h"
#include "deployer/job/supervisors.h"
#include "deployer/job/talk.h"

/* A program that runs, and who waits for it. Zero is none; lives in the arena of the plan. */
struct job_spawns {
	struct job_spawn *list;
	size_t count;
};

/*
 * Starts what the event asks for. Returns NULL, or why it cannot: only the first host may ask, for a
 * launcher that starts programs elsewhere, and only for hosts of the job.
 */
const char *job_spawn(struct job_spawns *spawns, const struct job_plan *plan,
		      struct supervisors *supervisors, const struct job_host *asker,
		      const struct job_event *event);

/* Tells the launcher of the end. False when the label is none of such a program on that host. */
bool job_spawn_ended(const struct job_spawns *spawns, struct supervisors *supervisors,
		     const struct job_host *host, const char *label, int status);

#endif
