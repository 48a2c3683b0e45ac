/* SPDX-License-Identifier: MIT */
/* slurm_submit.h - a script for sbatch, and what to do about its refusals. */
#ifndef DEPLOYER_SCHEDULER_SLURM_SUBMIT_H
#define DEPLOYER_SCHEDULER_SLURM_SUBMIT_H

#include "core/arena.h"
#include "core/error.h"

/*
 * Submits the script, from the folder. *id is the job's number. What sbatch refuses comes back with what the cluster
 * has instead.
 */
int slurm_submit(const char *script, const char *folder, struct arena *arena, const char **id,
		 struct error *err);

#endif
