/* SPDX-License-Identifier: MIT */
/*
 * Whether a workload that came over the network can be run: the bounds of the flags that it is made of
 * (options.c), and what the flags need of each other.
 */
#ifndef WORKER_WORKLOAD_H
#define WORKER_WORKLOAD_H

#include "group.h"

struct backend;

/* What is wrong, in words that follow "with"; NULL: nothing. */
const char *workload_problem(const struct workload *workload, int world,
			     const struct backend *backend);

#endif
