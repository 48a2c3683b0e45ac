/* SPDX-License-Identifier: MIT */
/*
 * The table on standard output, which is nccl-tests' (src/util.cu of its version 2.19): the lines about the run, the
 * columns, one line per size, and two closing lines. A program of nccl-tests (perf.h) has its words around the table,
 * too. Nothing is printed with --json or --quiet.
 */
#ifndef WORKER_TABLE_H
#define WORKER_TABLE_H

#include "bench/bench.h"
#include "options.h"

void table_header(const struct options *options, const struct group *group);

/* One size. @arg is the struct options; @in_place is NULL where there is none. */
void table_row(void *arg, const struct result *out_of_place, const struct result *in_place);

/* The closing lines, if there are results. */
void table_end(const struct options *options, const struct report *report);

/* What the column redop shows. */
const char *table_op(const struct options *options, const struct result *result);

#endif
