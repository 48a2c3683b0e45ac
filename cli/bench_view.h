/* SPDX-License-Identifier: MIT */
/*
 * bench_view.h - a worker's report as text on standard output, for people.
 */
#ifndef CLI_BENCH_VIEW_H
#define CLI_BENCH_VIEW_H

#include "plan/report.h"

/* nccl-tests' columns; with --find-slow the heat map and who is slow; with --sgd the table of its
 * ways; what the hardware should give. All but the verdict. */
void bench_print(const struct report *report, struct arena *arena);

#endif
