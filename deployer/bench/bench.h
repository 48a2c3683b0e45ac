/* SPDX-License-Identifier: MIT */
/*
 * bench.h - starts the all-reduce worker on every rank and reads its report.
 */
#ifndef DEPLOYER_BENCH_BENCH_H
#define DEPLOYER_BENCH_BENCH_H

#include "deployer/launcher/launcher.h"
#include "plan/report.h"

struct bench_options {
	const struct launcher *launcher;
	const char *const *arguments; /* the worker's own flags */
	int timeout_s;		      /* of the whole run; 0: 300 */
};

/*
 * Needs a probed fleet with all workers up; fleet_bringup has put the secret into their containers.
 * Fills *report and *document (the worker's whole JSON; the caller frees it). Fails with
 * ERROR_VERDICT when the verdict is bad or the ranks did not run where the plan says; both are
 * filled then too. When no report came, report->verdict and *document are NULL.
 */
int fleet_bench(struct fleet *fleet, const struct bench_options *options, struct arena *arena,
		struct report *report, cJSON **document, struct error *err);

/* 0 for the verdict "pass"; otherwise ERROR_VERDICT with the reason. */
int bench_verdict(const struct report *report, struct error *err);

#endif
