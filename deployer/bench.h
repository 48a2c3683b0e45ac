/* SPDX-License-Identifier: MIT */
/*
 * bench.h - starts the all-reduce worker on every rank and reads its report.
 */
#ifndef DEPLOYER_BENCH_H
#define DEPLOYER_BENCH_H

#include "deployer/launcher/launcher.h"
#include "plan/report.h"

struct bench_options {
	const struct launcher *launcher;
	const char *const *arguments; /* the worker's own flags */
	int timeout_s;		      /* of the whole run; 0: 300 */
};

/*
 * Needs a probed fleet with all workers up. Fills *report and *document (the worker's own, whole;
 * the caller frees it) also when the verdict is bad; fails with ERROR_VERDICT then, and when the
 * ranks did not run where the plan says. No report came: report->verdict and *document are NULL.
 * `secret` must be in the containers already (fleet_bringup put it there).
 */
int fleet_bench(struct fleet *fleet, const struct bench_options *options, struct arena *arena,
		struct report *report, cJSON **document, struct error *err);

/* 0, or ERROR_VERDICT with the reason when the report's verdict is another than "pass". */
int bench_verdict(const struct report *report, struct error *err);

#endif
