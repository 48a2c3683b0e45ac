/* SPDX-License-Identifier: MIT */
/*
 * What launchers say in the environment: who this rank is and where rank 0 listens. A launcher is
 * one row of the table in environment.c. Sources: srun(1), section OUTPUT ENVIRONMENT VARIABLES;
 * kubernetes.io, "Job", completion mode Indexed, and "DNS for Services and Pods"; pytorch.org,
 * "torchrun".
 */
#ifndef WORKER_ENVIRONMENT_H
#define WORKER_ENVIRONMENT_H

#include "options.h"

/* Fills in rank, world and root where the flags left them open; with --procs K and a --world beyond
 * K each of the launcher's processes starts K ranks. The root is
 * - on loopback, at a port that is the same for all ranks of the job, if all are on this host;
 * - at $MASTER_ADDR:$MASTER_PORT, or at the next port where the launcher's own store has that one;
 * - on the first host of the Slurm step, or of the Slurm job around another launcher;
 * - where MPI says that rank 0 listens (mpi_root.h), for launchers of MPI;
 * - pod 0 of the Kubernetes Job, if its pods have full names (a headless service);
 * and otherwise *err says what to set. The secret is $RINGUP_SECRET, or the text in
 * $RINGUP_SECRET_FILE. */
int environment_apply(struct options *options, struct failure *err);

/* What the launchers are called in the help, in the order in which they are looked for; NULL after
 * the last one. */
const char *environment_name(int index);

#endif
