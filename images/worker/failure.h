/* SPDX-License-Identifier: MIT */
/*
 * The one error object of the worker. It lives on the caller's stack or inside struct control, is
 * set once by the function that noticed, travels over the control connections as it is, and is
 * printed by main() only.
 *
 * Functions that take a `struct failure *err` return 0, or -1 with *err set.
 */
#ifndef WORKER_FAILURE_H
#define WORKER_FAILURE_H

#include <stdint.h>

#define HOST_BYTES 64 /* a host name with its NUL, cut if longer */

/* Exit statuses, one meaning each; docs and `allreduce --help` list the same numbers. */
enum status {
	STATUS_PASS = 0,
	STATUS_USAGE = 1,   /* bad flags, bad setup, a resource this machine does not have */
	STATUS_DATA = 2,    /* an element differs from its expected value */
	STATUS_BELOW = 3,   /* bus bandwidth below --min-busbw */
	STATUS_TIMEOUT = 4, /* a rank did not get there in --timeout seconds */
	STATUS_GPU = 5,	    /* GPU, driver or NCCL unusable */
	STATUS_VERSION = 6, /* the ranks run different versions of this program */
	STATUS_LOST = 7,    /* a rank died or its connection broke */
	STATUS_SLOW = 8	    /* a slow host or link was found */
};

/* How far a run has come. A timeout names the phase in which the missing ranks are stuck. */
enum phase {
	PHASE_JOIN,
	PHASE_VERSION,
	PHASE_BOOTSTRAP,
	PHASE_FIRST, /* the first collective */
	PHASE_RUN,
	PHASE_PAIRS, /* --find-slow ... */
	PHASE_LEAVE_ONE_OUT,
	PHASE_ONE, /* --sgd: its ways, in their order */
	PHASE_SUM,
	PHASE_SERVER,
	PHASE_ASYNC,
	PHASE_COUNT
};

/* Sent over the wire as it is: fixed sizes, no pointers. */
struct failure {
	int32_t status; /* enum status */
	int32_t phase;	/* enum phase */
	int32_t rank;	/* the rank to blame, or -1 */
	char host[HOST_BYTES];
	char reason[420]; /* one sentence: what failed, where, and the next thing to do */
};

/* Fills *err and returns -1, so that a caller may write `return failure_set(...)`. @rank and @host
 * name the culprit: -1 and "" when there is none. */
int failure_set(struct failure *err, enum status status, int rank, const char *host,
		const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Makes a failure read from the network safe to print: strings end and hold no control characters,
 * numbers are in range. */
void failure_tidy(struct failure *failure);

/* "join", "version check", "bootstrap", "first collective", "run", "pairs", "leave-one-out",
 * "sgd one", ... */
const char *phase_name(int phase);

/* The verdict as JSON and the last text line spell it: "pass", "wrong data", "timeout", ... */
const char *verdict_name(int status);

#endif
