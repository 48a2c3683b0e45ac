/* SPDX-License-Identifier: MIT */
/*
 * report.h - what the all-reduce worker found: one row per size and placement, the ranks, the
 * verdict.
 *
 * The worker's JSON document is described in docs/images.md; this is its reader.
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

struct report {
	const char *verdict; /* "pass" or what is bad */
	const char *reason;  /* "" when it passed */
	const char *backend;
	const char *launcher;
	int world;
	size_t row_count, rank_count;
	struct report_row *rows;
	struct report_rank *ranks;
};

/* Errors say what is missing in the document. Text is copied. */
int report_from_json(const cJSON *json, struct arena *arena, struct report *report,
		     struct error *err);

/* {"schema", "verdict", "results": [...], "ranks": [...]}; the caller owns it. */
cJSON *report_to_json(const struct report *report);

#endif
