/* SPDX-License-Identifier: MIT */
/*
 * The benchmark: for each size, out of place and in place, checked before and after the timed
 * iterations.
 *
 * Time of a size: each iteration's time is that of the slowest rank; `usec` is their average,
 * min/max/p50/p99 are over the same numbers; with another enum averaging `usec` is that of the ranks' own averages. algbw = bytes / usec, busbw = algbw *
 * collective_factor(), in GB/s of 1e9 bytes (nccl-tests, doc/PERFORMANCE.md). There is no barrier
 * between iterations. Of a queue, whose iterations begin on one rank before they do on another, `usec`
 * is the time of all of them by the queue's clock, divided by their number, on the slowest rank.
 */
#ifndef WORKER_BENCH_H
#define WORKER_BENCH_H

#include "backend/backend.h"
#include "bench/blame.h"
#include "bench/expect.h"
#include "collective/pattern.h"
#include "fault.h"
#include "sgd/sgd.h"

struct result {
	uint64_t bytes, count; /* of the larger buffer; struct collective's */
	bool inplace;
	bool unchecked; /* collective_timed_in_place() */
	enum dtype type;
	enum op op;
	int root;
	double usec, min_usec, max_usec, p50_usec, p99_usec, deviation_usec;
	double average_usec, p95_usec; /* of the slowest rank's times */
	double host_usec; /* rank 0: until an iteration was in the queue; 0: not known */
	double algbw, busbw;
	uint64_t wrong; /* elements, over all ranks and both checks */
	const char *algorithm;
	struct rank_time *ranks; /* [world], owned */
	/* [1 + processes][iterations], owned; NULL unless bench.keep_times: the slowest rank's times, and each process's */
	float *times;
	int processes;
};

/* One rank's own view of a size. */
struct rank_time {
	float usec, p50_usec, p99_usec;
};

/* Rank 0's collection; other ranks leave `results` empty. */
struct report {
	struct result *results;	  /* owned; report_release() */
	size_t count, room;	  /* results so far; their most */
	bool whole;		  /* all that was asked for has been measured */
	struct mismatch first;	  /* the first mismatch, if failure.status is STATUS_DATA */
	struct warning *warnings; /* [warning_count], owned */
	int warning_count;
	struct heat heat; /* --find-slow */
	struct sgd sgd;	  /* --sgd */
	struct failure
		failure; /* status STATUS_PASS, or the worst verdict so far: data, then threshold */
};

struct bench {
	const struct group *group;
	const struct backend *backend;
	const struct expect *expect;
	void *state;
	const struct fault *fault;
	double min_busbw;   /* GB/s for the largest size, 0: none */
	double min_average; /* GB/s on average over all results, 0: none */
	int keep_times;	    /* each iteration's times, for processes of so many ranks; 0: not */
	/* Rank 0, after a size; @in_place is NULL if the collective has none. */
	void (*on_row)(void *arg, const struct result *out_of_place, const struct result *in_place);
	/* Rank 0, now and then: what is being done, a few words. Never while times are taken. */
	void (*on_progress)(void *arg, const char *text);
	void *arg;
	/* Every rank, once: after the first collective; NULL: nothing is to be done then. */
	int (*on_first)(const struct bench *bench, void *arg, struct failure *err);
	void *first_arg;
};

/* Runs the group's workload. 0: done, and report->failure (the same on all ranks) says how it went;
 * -1: *err. */
int bench_run(const struct bench *bench, struct report *report, struct failure *err);

/* The largest size of @workload that will be run, in bytes: what buffers must hold. */
uint64_t bench_buffer_bytes(const struct workload *workload, const struct backend *backend);

/* The average busbw of all results, as nccl-tests has it. */
double report_average(const struct report *report);

/* Takes all results away, for the next cycle of a run without end. */
void report_forget(struct report *report);

void report_release(struct report *report);

#endif
