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

/* What this cluster's commands say that they can. */
struct slurm_site {
	const char *version;   /* "22.05.8" */
	const char *container; /* how an image gets to its nodes: pyxis, apptainer or none */
	const char *mpi;       /* for srun --mpi; "" when it has neither PMIx nor PMI-2 */
};

/* ERROR_FAILED where there are no commands of Slurm, or its controller does not answer. */
int slurm_site(struct arena *arena, struct slurm_site *site, struct error *err);

/*
 * Submits the script, from the folder. *id is the job's number. What sbatch refuses comes back with what the cluster
 * has instead.
 */
int slurm_submit(const char *script, const char *folder, struct arena *arena, const char **id,
		 struct error *err);

enum slurm_phase {
	SLURM_GONE,  /* nobody knows it any more */
	SLURM_WAITS, /* in the queue */
	SLURM_RUNS,  /* also while it begins and ends */
	SLURM_ENDED
};

struct slurm_state {
	enum slurm_phase phase;
	const char *state;  /* Slurm's word: PENDING, RUNNING, COMPLETED, NODE_FAIL ... */
	const char *reason; /* why it waits: Resources, PartitionDown ... */
	const char *nodes;  /* "node[01-03]" */
	int status;	    /* of the script: 0 to 255, or 128 + N for signal N */
	int restarts;
};

/* Asks for a job; an error only when Slurm does not answer. */
int slurm_ask(const char *id, struct arena *arena, struct slurm_state *state, struct error *err);

/* Ends a job; one that has ended is fine. */
int slurm_cancel(const char *id, struct error *err);

/* What a reason to wait means, as a sentence; "" for one that is only a matter of time. */
const char *slurm_reason(const char *reason, bool *is_hopeless);

/* The nodes of a list that are down, with why: "node02 (Not responding)"; "" when none is. */
const char *slurm_down(const char *nodes, struct arena *arena);

/* Asks for all nodes and partitions; reasons of nodes, and names, are as Slurm has them. */
int slurm_look(struct arena *arena, struct scheduler_overview *overview, struct error *err);

#endif
