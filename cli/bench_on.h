/* SPDX-License-Identifier: MIT */
/* bench_on.h - the all-reduce worker as a job of a scheduler. */
#ifndef CLI_BENCH_ON_H
#define CLI_BENCH_ON_H

#include "cli/run_on.h"
#include "plan/report.h"

/*
 * Runs it and reads its report; as fleet_bench (deployer/bench/bench.h). Ranks that did not run on as many nodes as were asked
 * for are ERROR_VERDICT, too.
 */
int bench_on(struct run_on *on, const char *const *arguments, struct report *report,
	     cJSON **document, struct error *err);

/* The facts of the nodes, as the job has found them; of a node that has none there are none. */
struct facts *bench_on_facts(const struct run_on *on, const struct report *report, size_t *count);

#endif
