/* SPDX-License-Identifier: MIT */
/* slurm_submit.h - a script for sbatch, and what to do about its refusals. */
#ifndef DEPLOYER_SCHEDULER_SLURM_SUBMIT_H
#define DEPLOYER_SCHEDULER_SLURM_SUBMIT_H

#include "core/arena.h"
#include "core/error.h"

/*
 * Submits the script, from the folder. *id is the job's number. What sbatch refuses comes back with what the cluster
 * has instead. Where the controller does not answer in time, the message says how a job that it has taken is found: by the
 * script's --job-name, which is `name`.
 */
int slurm_submit(const char *script, const char *name, const char *folder, struct arena *arena,
		 const char **id, struct error *err);

#endif
