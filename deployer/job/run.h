/* SPDX-License-Identifier: MIT */
/*
 * run.h - runs a training job on a fleet, from its first process to the last.
 *
 * On every host the supervisor ringup-job runs over this process's SSH connection, and the launcher's
 * processes run below it. Whichever way the job ends, also when this process is killed or a
 * connection is lost, each supervisor ends all that belongs to the job on its host.
 *
 * Before the user's command runs, every rank has to report from the host that the plan names: ranks
 * that mpirun or torchrun starts wait in `ringup-job rank` until all have.
 */
#ifndef DEPLOYER_JOB_RUN_H
#define DEPLOYER_JOB_RUN_H

#include "deployer/job/console/output.h"
#include "deployer/job/plan.h"
#include "deployer/job/verdict.h"

/* Told on a thread of the run's own; may be NULL. */
struct job_watch {
	void (*began)(void *arg, const struct job_plan *plan); /* all ranks have begun */
	void (*stays)(void *arg); /* and go on a moment later; or NULL */
	void *arg;
};

/*
 * Runs it to its end. The fleet has its owner, and is not probed. Output goes to the files in
 * `folder`, and to the terminal as `output` says. Fails when the job could not begin; everything
 * else is in *result, which lives in the arena.
 */
int job_run(struct fleet *fleet, const struct job_options *options, const char *folder,
	    struct job_output *output, const struct job_watch *watch, struct arena *arena,
	    struct job_result *result, struct error *err);

#endif
