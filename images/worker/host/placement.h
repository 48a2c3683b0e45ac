/* SPDX-License-Identifier: MIT */
/*
 * Ranks and cores. Containers of one machine count together: they have the same boot id.
 */
#ifndef WORKER_PLACEMENT_H
#define WORKER_PLACEMENT_H

#include "group.h"

#include <sched.h>
#include <stdbool.h>

/* Are there more ranks on this machine than cores that any of them may use? Then spinning harms the
 * rank waited for. All ranks call it together. */
int placement_crowded(const struct group *group, bool *crowded, struct failure *err);

/* The same for each rank, from the @cores that each may use ([world] each). */
void placement_judge(const struct group *group, const cpu_set_t *cores, uint8_t *crowded);

/* Cores that this thread may use. */
int placement_cores(void);

/* For a while: binds the calling thread to the core number @seat of those it may use, so that ranks
 * that run at the same time do not share one; placement_leave() undoes it. Does nothing if there is
 * only one core to choose. */
struct seat {
	cpu_set_t before;
	bool taken;
};
void placement_take(struct seat *seat, int number);
void placement_leave(const struct seat *seat);

/* Binds the calling thread to one core, spread evenly over those allowed, unless the machine is
 * crowded: two ranks that wake each other through the network are easily put on one core, and stay
 * there. */
void placement_bind(const struct group *group);

#endif
