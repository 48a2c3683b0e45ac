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

#define SCHEDULE_ROUNDS_MAX 63 /* larger worlds try that many partners of each rank ... */
#define SCHEDULE_BATCHES_MAX \
	2048 /* ... or fewer, where few of them can run at a time, so that a sweep has no more batches ... */
#define SCHEDULE_ROUNDS_LEAST 5	   /* ... but at least so many */
#define SCHEDULE_SWEEP_USEC 500000 /* what a rank's exchanges in one sweep may take */

struct schedule {
	int world, rank, rounds;
	int *machine; /* [world] number of each rank's machine */
	int *slots;   /* [machine] ranks that it may run at a time, at least 1 */
	int *busy;    /* [machine] scratch */
};

/* @cores: [world] cores that each rank may use. A rank bound to one core counts as one with a core
 * of its own. */
void schedule_init(struct schedule *schedule, const struct group *group, const int *cores);

/* Number of rounds: world - 1, or world if that is odd, and no more than the ceilings. */
int schedule_rounds(const struct schedule *schedule);

/* This rank's part in a round. */
struct turn {
	int peer, batch; /* whom it meets and when; -1: nobody */
	int seat;	 /* how many others of its machine run in the same batch before it */
};

/* Cuts round @round into batches and returns their number. */
int schedule_round(struct schedule *schedule, int round, struct turn *turn);

/* How much a pair should exchange: @most bytes, halved until the slowest rank's exchanges in a sweep, @exchanges with each
 * partner, fit SCHEDULE_SWEEP_USEC, but at least @least. @all: [world * world] how long each rank took for @least bytes with
 * each other one, 0: they do not meet. */
size_t schedule_bytes(int world, const float *all, int exchanges, size_t least, size_t most);

void schedule_release(struct schedule *schedule);

#endif
