/* SPDX-License-Identifier: MIT */
/* mpirun.h - how a job's mpirun is told what it needs to know, whichever MPI it belongs to. */
#ifndef DEPLOYER_LAUNCHER_MPIRUN_H
#define DEPLOYER_LAUNCHER_MPIRUN_H

#include "deployer/job/plan.h"

/* Adds NAME=VALUE for the mpirun that runs on the first host, also for one that horovodrun starts. */
void mpirun_add_env(const struct job_plan *plan, struct words *env);

/* launcher.node_words of all launchers that end in an mpirun (launcher.h). */
struct launcher_node;
int mpirun_node_words(const struct job_options *job, const struct launcher_node *node,
		      struct words *words, struct words *env, struct error *err);

/*
 * Adds what mpirun or horovodrun starts as each rank: ringup-job and the person's command, between them with --gpus what
 * leaves a rank the GPUs of its own among those that were leased on its host.
 */
void mpirun_add_rank_words(const struct job_plan *plan, const struct job_host *host,
			   struct words *out);

#endif
