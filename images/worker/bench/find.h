/* SPDX-License-Identifier: MIT */
/*
 * --find-slow: all pairs of ranks exchange data, in sweeps of rounds of disjoint pairs, and blame.h
 * says who is slow, judge.h when that is certain.
 *
 * A first sweep warms the pairs up: it connects them, verifies their data, and its times do not count but to choose how much
 * a pair exchanges in the others. A pair's time is its fastest exchange, on the slower of its two ends: disturbance only ever adds,
 * and what is slow is slow every time. As long as something looks slow there are more sweeps, up to
 * a limit.
 * If a rank is slow, leave-one-out says what it costs the others: all ranks exchange with both
 * neighbours of a ring at the same time, with it and without it.
 */
#ifndef WORKER_FIND_H
#define WORKER_FIND_H

#include "bench/bench.h"

#define FIND_BYTES \
	((size_t)1 \
	 << 20) /* what a pair exchanges, each way: when it warms up, and in host memory ... */
#define FIND_DEVICE_BYTES \
	((size_t)32       \
	 << 20) /* ... and in a device's, at most: over NVLink 1 MiB takes 2 us, which is all start */
#define FIND_WORLD_MAX 1024

/* The most that a pair exchanges with this backend. */
size_t find_bytes_most(const struct backend *backend);

/* Runs on all ranks. Rank 0 gets report->heat. report->failure, the same on all ranks,
 * becomes STATUS_SLOW if something is slow, STATUS_DATA if an exchange brought wrong data. -1:
 * *err.
 */
int find_run(const struct bench *bench, struct report *report, struct failure *err);

/* What a finding says, as one sentence. */
void find_sentence(const struct group *group, const struct finding *finding, char *text,
		   size_t bytes);

#endif
