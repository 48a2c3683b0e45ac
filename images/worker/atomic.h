/* SPDX-License-Identifier: MIT */
/*
 * <stdatomic.h>, also for gcc 4.8, which CentOS 7 and Ubuntu 14.04 build the worker with: it has
 * the operations, by other names, but neither the header nor _Atomic (both came with gcc 4.9).
 */
#ifndef WORKER_ATOMIC_H
#define WORKER_ATOMIC_H

/* A test builds with WORKER_OLD_GCC. */
#if __GNUC__ == 4 && __GNUC_MINOR__ < 9 && !defined(__clang__)
#define WORKER_OLD_GCC
#endif

#ifndef WORKER_OLD_GCC
#include <stdatomic.h>
#else
#include <stdbool.h>

#define _Atomic volatile
typedef volatile bool atomic_bool;
typedef volatile int atomic_int;

#define memory_order_relaxed __ATOMIC_RELAXED
#define memory_order_acquire __ATOMIC_ACQUIRE

#define atomic_load_explicit(place, order) __atomic_load_n(place, order)
#define atomic_store_explicit(place, value, order) __atomic_store_n(place, value, order)
#define atomic_load(place) __atomic_load_n(place, __ATOMIC_SEQ_CST)
#define atomic_store(place, value) __atomic_store_n(place, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_add(place, value) __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST)
#define atomic_fetch_sub(place, value) __atomic_fetch_sub(place, value, __ATOMIC_SEQ_CST)
#endif

#endif
