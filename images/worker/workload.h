/* SPDX-License-Identifier: MIT */
/*
 * Whether a workload that came over the network can be run: the bounds of the flags that it is made of
 * (options.c), and what the flags need of each other.
 */
#ifndef WORKER_WORKLOAD_H
#define WORKER_WORKLOAD_H

#include "group.h"

#include <stdbool.h>

struct backend;

/* What is wrong, in words that follow "with"; NULL: nothing. */
const char *workload_problem(const struct workload *workload, int world,
			     const struct backend *backend);

/* The size after @bytes; nothing is skipped between 0 and one element. */
uint64_t workload_next(const struct workload *workload, uint64_t bytes);

/* The number of sizes of a type, or a number larger than RESULTS_MAX. Bounds must have been checked. */
size_t workload_sizes(const struct workload *workload);

/* Whether all that is asked for is no more than RESULTS_MAX results. */
bool workload_fits(const struct workload *workload, int world);

#endif
