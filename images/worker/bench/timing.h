/* SPDX-License-Identifier: MIT */
/* The iterations of one size, and how long they take. */
#ifndef WORKER_TIMING_H
#define WORKER_TIMING_H

#include "bench/run.h"

/* One collective, which is a step of the control plane from @now_usec on. */
int timing_collective(const struct run *run, int64_t now_usec, struct failure *err);

/* The backend's settle(), if it has one. */
int timing_settle(const struct run *run, struct failure *err);

/* The iterations that do not count, and one more that all ranks leave at about the same time. */
int timing_warm_up(const struct run *run, struct failure *err);

/* The others: fills the times in run->part. */
int timing_measure(const struct run *run, struct failure *err);

#endif
