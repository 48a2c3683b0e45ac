/* SPDX-License-Identifier: MIT */
/*
 * How much memory this process may use. A pod's or container's limit is known to its control group
 * only: whoever goes beyond it is killed. $RINGUP_TEST_ROOT, for tests only, is a folder that
 * stands for "/".
 */
#ifndef WORKER_MEMORY_H
#define WORKER_MEMORY_H

#include <stdint.h>

/* The machine's memory and swap, or the lowest limit of the control groups around this process
 * (cgroups(7), versions 1 and 2), whichever is less. */
uint64_t memory_limit(void);

#endif
