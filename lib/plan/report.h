/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the all-reduce worker found: what ringup itself needs of its JSON document.
 *
 * The document is described in docs/images.md. It stays whole: ringup prints and keeps the worker's
 * own, into which report_complete() puts what ringup knows better. So nothing that a worker says is
 * lost, also not what a newer one says that this struct has no member for.
 */
#ifndef PLAN_REPORT_H
#define PLAN_REPORT_H

#include "core/json.h"

struct report_row {
	double bytes, usec, algbw, busbw; /* GB/s of 1e9 bytes */
	double wrong;			  /* elements that differ from the expected sum */
	const char *type, *op;
	bool inplace;
};

struct report_rank {
	int rank;
	const char *host;
};

/* --find-slow: all pairs of ranks; world 0: not measured. */
struct report_pairs {
	int world, sweeps;
	int unsure; /* times that look slow, but came only by chance */
	double bytes, seconds;
	const double *usec; /* [world * world]; 0: no such pair */
	int left_out;	    /* the rank of leave-one-out, or -1 */
	double all_usec, without_usec;
	size_t finding_count;
	const char **findings; /* one sentence each */
};

/* --sgd: one way of training. */
struct report_run {
	const char *name;
	int learners;
	double steps_per_second, efficiency, communication, loss, right; /* shares: 0 to 1 */
};

struct report_sgd {
	int steps, batch;
	const char *weights; /* hash of them after 'sum' */
	size_t run_count;    /* 0: not asked for */
	struct report_run *runs;
};

/* What the hardware should give (resolver/links/expectation.h, or the worker's --expect). */
struct report_expected {
	double busbw;	/* GB/s; 0: unknown, and `because` says why */
	double percent; /* that the fastest size reached of it */
	const char *because, *source;
};

struct report {
	const char *verdict; /* "pass" or what is bad */
	const char *reason;  /* "" when it passed */
	const char *backend;
	const char *collective; /* "all_reduce" where the document does not say */
	const char *launcher;	/* "" when it was none of ours */
	int world;
	size_t row_count, rank_count;
	struct report_row *rows;
	struct report_rank *ranks; /* in the document's order */
	struct report_pairs pairs;
	struct report_sgd sgd;
	struct report_expected expected; /* because NULL: nobody said */
	const char *const *notes;	 /* findings on the hosts, NULL-terminated; NULL: none */
};

/* Errors say what is missing in the document. Text is copied. */
int report_from_json(const cJSON *json, struct arena *arena, struct report *report,
		     struct error *err);

/*
 * Puts into the worker's document what ringup knows better: `schema`, `launcher`, `verdict` and
 * `reason`, the hosts' names of the cluster file (of ranks, findings and the failure), `expected`
 * unless the worker had one itself, and `notes`. All else stays as it is.
 */
void report_complete(const struct report *report, cJSON *document);

/* The highest bus bandwidth of all sizes and placements, GB/s. */
double report_peak(const struct report *report);

/* The number of hosts that ranks ran on. */
size_t report_hosts(const struct report *report);

#endif
