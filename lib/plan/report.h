/* SPDX-License-Identifier: MIT */
/*
 * report.h - the parts of the all-reduce worker's JSON document that ringup itself needs.
 *
 * docs/images.md describes the document. ringup prints and keeps the whole document of the worker,
 * and report_complete() adds what ringup knows better. So nothing that a worker reports is lost,
 * even if a newer worker reports something that this struct has no member for.
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
	int unsure;    /* times that look slow but may be chance */
	bool unjudged; /* there was no time for as many sweeps as that takes */
	double bytes, seconds;
	const double *usec; /* [world * world]; 0: no such pair */
	int left_out;	    /* the rank that leave-one-out left out, or -1 */
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

/*
 * The bandwidth that the hardware should give (resolver/links/expectation.h, or the worker's
 * --expect).
 */
struct report_expected {
	double busbw;	/* GB/s; 0: unknown, and `because` says why */
	double percent; /* share of it that the fastest size reached */
	const char *because, *source;
};

struct report {
	const char *verdict; /* "pass", or what failed */
	const char *reason;  /* "" when it passed */
	const char *backend;
	const char *library,
		*library_file; /* "NCCL 2.27.3, ..." of rank 0 and its file; "" when there is none */
	const char *collective; /* "all_reduce" where the document does not say */
	const char *launcher;	/* "" when ringup did not start the worker */
	int world;
	size_t row_count, rank_count;
	struct report_row *rows;
	struct report_rank *ranks; /* in the document's order */
	struct report_pairs pairs;
	struct report_sgd sgd;
	struct report_expected expected; /* because NULL: no expectation */
	/* findings about the hosts, NULL-terminated; NULL: none */
	const char *const *notes;
};

/* Errors say what is missing in the document. Text is copied. */
int report_from_json(const cJSON *json, struct arena *arena, struct report *report,
		     struct error *err);

/*
 * Puts into the worker's document what ringup knows better: `schema`, `launcher`, `verdict`,
 * `reason`, `notes`, and `expected` unless the worker had one itself. Ranks, findings and the
 * failure get the hosts' names from the cluster file. Everything else stays as it is.
 */
void report_complete(const struct report *report, cJSON *document);

/* The highest bus bandwidth of all sizes and placements, GB/s. */
double report_peak(const struct report *report);

/* The number of hosts that ranks ran on. */
size_t report_hosts(const struct report *report);

#endif
