/* SPDX-License-Identifier: MIT */
/*
 * Monotonic time. All deadlines in the worker are absolute times of this clock, in microseconds, so
 * that they can be handed down through calls without being started anew.
 */
#ifndef WORKER_CLOCK_H
#define WORKER_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_nsec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_usec(void)
{
	return clock_nsec() / 1000;
}

/* Milliseconds left until @deadline_usec, rounded up, at least 0 and at most @most_msec: the shape
 * poll() wants. */
static inline int clock_left_msec(int64_t deadline_usec, int most_msec)
{
	int64_t left = (deadline_usec - clock_usec() + 999) / 1000;

	if (left < 0)
		return 0;
	return left < most_msec ? (int)left : most_msec;
}

#endif
