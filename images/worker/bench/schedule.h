/* SPDX-License-Identifier: MIT */
/*
 * Who exchanges with whom when all pairs are tried: rounds of disjoint pairs (the circle method of
 * round-robin tournaments), each cut into batches so that no machine runs more ranks at a time than
 * it has cores. All ranks work out the same schedule.
 */
#ifndef WORKER_SCHEDULE_H
#define WORKER_SCHEDULE_H

#include "group.h"

#include <stdbool.h>

#define SCHEDULE_ROUNDS_MAX 63 /* larger worlds try that many partners of each rank */

struct schedule {
	int world, rank;
	int *machine; /* [world] number of each rank's machine */
	int *slots;   /* [machine] ranks that it may run at a time, at least 1 */
	int *busy;    /* [machine] scratch */
};

/* @cores: [world] cores that each rank may use. A rank bound to one core counts as one with a core
 * of its own. */
void schedule_init(struct schedule *schedule, const struct group *group, const int *cores);

/* Number of rounds: world - 1, or world if that is odd, and no more than the ceiling. */
int schedule_rounds(const struct schedule *schedule);

/* This rank's part in a round. */
struct turn {
	int peer, batch; /* whom it meets and when; -1: nobody */
	int seat;	 /* how many others of its machine run in the same batch before it */
};

/* Cuts round @round into batches and returns their number. */
int schedule_round(struct schedule *schedule, int round, struct turn *turn);

void schedule_release(struct schedule *schedule);

#endif
