/* SPDX-License-Identifier: MIT */
/*
 * bench_history.h - .ringup/history/bench/N.json: what earlier runs of `ringup bench` came to, and how a new one
 * compares with those of its kind.
 *
 * Of one kind are runs of the same backend, collective, type, operation and largest size on the same ranks of the
 * same hosts. Only runs that passed count.
 */
#ifndef DEPLOYER_BENCH_BENCH_HISTORY_H
#define DEPLOYER_BENCH_BENCH_HISTORY_H

#include "plan/cluster.h"
#include "plan/report.h"

#define BENCH_HISTORY_MAX 500	 /* documents that are kept */
#define BENCH_HISTORY_LAST 10	 /* runs that a new one is compared with */
#define BENCH_HISTORY_LEAST 3	 /* fewer are no reason to call a run slow */
#define BENCH_HISTORY_PERCENT 90 /* of the median: what is below is slower than before */

/* The runs before this one. All bandwidths are GB/s of the fastest size. */
struct bench_past {
	size_t runs; /* of the same kind, BENCH_HISTORY_LAST at most; 0: there is nothing to compare with */
	double busbw;	     /* of this run */
	double median;	     /* of those runs */
	const char *since;   /* the oldest of those runs, "2026-11-18T09:00:00Z" */
	double week_ago;     /* of the last run that is a week old or older; 0: there is none */
	const char *week_at; /* when that was */
	bool slower; /* than BENCH_HISTORY_PERCENT of the median of BENCH_HISTORY_LEAST runs, or of the run a
			       week ago */
};

/* The document that is kept of @report, of a run at @now (in the form of clock_iso8601()). */
cJSON *bench_history_record(const struct report *report, const char *now);

/* Compares @record with @documents, an array of records, the oldest first. @week_ago is the time a week before. Texts
 * are in the arena. Documents that are no records are passed over. */
void bench_history_compare(const cJSON *documents, const cJSON *record, const char *week_ago,
			   struct arena *arena, struct bench_past *past);

/* Compares with what is kept, and then keeps this run too, if it passed. */
int bench_history_keep(const struct cluster *cluster, const struct report *report,
		       struct arena *arena, struct bench_past *past, struct error *err);

/* In the document of the run: `history`. */
void bench_history_add_to(const struct bench_past *past, cJSON *document);

/* One sentence; "" where there is nothing to compare with. */
const char *bench_history_sentence(const struct bench_past *past, struct arena *arena);

#endif
