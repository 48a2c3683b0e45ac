/* SPDX-License-Identifier: MIT */
/*
 * pool.h - the same work on many things, side by side, on a bounded number of threads.
 */
#ifndef CORE_POOL_H
#define CORE_POOL_H

#include "core/base.h"

/*
 * Calls fn(arg, i) once for every i below `count`, on at most `threads` threads, in rising order of
 * start; returns when all have returned. fn keeps its own errors. With one thread it runs in the
 * caller.
 */
void pool_each(size_t count, size_t threads, void (*fn)(void *arg, size_t index), void *arg);

/* The number of processors this process may use; at least 1. */
size_t pool_cores(void);

#endif
