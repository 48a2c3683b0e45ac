/* SPDX-License-Identifier: MIT */
/* overview.h - what a scheduler has: nodes, their GPUs, and queues. Text is never NULL. */
#ifndef DEPLOYER_SCHEDULER_OVERVIEW_H
#define DEPLOYER_SCHEDULER_OVERVIEW_H

#include "core/base.h"

struct scheduler_node {
	const char *name, *state; /* in the scheduler's own words */
	const char *queues;	  /* "train,closed" */
	const char *reason;	  /* why it takes no jobs; "" */
	const char *gpu;	  /* its product, as the scheduler calls it; "" */
	int cpus, cpus_used, gpus, gpus_used;
	int memory_mib; /* 0: nobody says it */
};

struct scheduler_queue {
	const char *name, *state;
	const char *limit; /* of a job's time */
	bool is_default;
	int nodes;
	int waiting, running; /* jobs */
};

struct scheduler_overview {
	struct scheduler_node *nodes;
	struct scheduler_queue *queues;
	size_t node_count, queue_count;
};

#endif
