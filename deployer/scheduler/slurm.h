/* SPDX-License-Identifier: MIT */
/*
 * slurm.h - Slurm through its own commands: sbatch, scontrol, squeue, sinfo, sacct and scancel, with whatever login,
 * cluster and plug-ins they have on this machine. Text lives in the arena and is never NULL.
 */
#ifndef DEPLOYER_SCHEDULER_SLURM_H
#define DEPLOYER_SCHEDULER_SLURM_H

#include "core/arena.h"
#include "core/error.h"
#include "core/words.h"
#include "deployer/scheduler/overview.h"
#include "deployer/scheduler/scheduler.h"

/*
 * Runs one of its commands in the folder (NULL: this one). *text is what it printed on stdout. With `status` NULL another
 * status than 0 is an error; else it is in *status, and what it printed on stderr is in *text, too. Of an allocation that
 * ringup runs in it knows nothing.
 */
int slurm_run(const char *const *words, const char *folder, struct arena *arena, const char **text,
	      int *status, struct error *err);

/* The lines that a command printed, in one, without "sbatch: error: ". */
const char *slurm_complaint(const char *text, struct arena *arena);

/* What this cluster's commands say that they can. */
struct slurm_site {
	const char *version;   /* "22.05.8" */
	const char *container; /* how an image gets to its nodes: pyxis, apptainer or none */
	const char *mpi;       /* for srun --mpi; "" when it has neither PMIx nor PMI-2 */
	const char *mpi_list;  /* what there is for it: "cray_shasta, none" */
	const char *gpus;      /* how GPUs are asked for: "gpus-per-node" or "gres" */
};

/* Whether there are commands of Slurm here, and a controller answers them. */
bool slurm_answers(struct arena *arena);

/* ERROR_FAILED where there are no commands of Slurm, or its controller does not answer. */
int slurm_site(struct arena *arena, struct slurm_site *site, struct error *err);

/* A job of sbatch, whose id is its number. */
extern const struct scheduler scheduler_slurm;

/*
 * What a reason to wait means, as a sentence; "" for one that is only a matter of time. The reason is as scontrol has it, and
 * what stands behind its first comma does not count: "ReqNodeNotAvail,_UnavailableNodes:node02".
 */
const char *slurm_reason(const char *reason, bool *is_hopeless);

/*
 * Asks for all nodes and partitions; reasons of nodes, and names, are as Slurm has them. A site that shows nodes to its operators
 * only has none here.
 */
int slurm_look(struct arena *arena, struct scheduler_overview *overview, struct error *err);

#endif
