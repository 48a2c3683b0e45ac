/* SPDX-License-Identifier: MIT */
/*
 * slurm_stack.h - the part of a batch script that compares the nodes' own software with ringup.lock, where no image
 * brings it, before the job begins. It does what `ringup run` does on hosts (job/versions.h).
 */
#ifndef DEPLOYER_SCHEDULER_SLURM_STACK_H
#define DEPLOYER_SCHEDULER_SLURM_STACK_H

#include "deployer/export/export.h"

/*
 * Adds the lines. `where` are words for srun, each with a space before it. A node that differs ends the script with 1
 * and a line on stderr: "node02 has torch 2.1.0, where ringup.lock has 2.4.0", and what to do. Nothing is added where
 * there is no lock, the job may differ from it (--mixed-versions), or its command loads nothing that is known.
 */
int slurm_stack_add(const struct export_wish *wish, const char *where, struct str *out,
		    struct error *err);

#endif
