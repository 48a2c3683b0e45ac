/* SPDX-License-Identifier: MIT */
/*
 * What rank 0 prints on standard output: nccl-tests' columns, or one JSON document.
 */
#ifndef WORKER_OUTPUT_H
#define WORKER_OUTPUT_H

#include "bench/bench.h"
#include "options.h"

/* Text only: comment lines about the run, and the column heads. */
void output_header(const struct options *options, const struct group *group);

/* On standard error: which device the rank has, if it has one. */
void output_device(const struct options *options, const struct group *group, int rank);

/* Warnings of the report from number @first on: one line each on standard error, unless --quiet. */
void output_warnings(const struct options *options, const struct group *group,
		     const struct report *report, int first);

/* If standard error is a terminal: a line there that the next one, or a row, replaces. @arg is the
 * struct options. */
void output_progress(void *arg, const char *text);

/* Text only: one size. @arg is the struct options. */
void output_row(void *arg, const struct result *out_of_place, const struct result *in_place);

/* The end: the verdict line, or the whole JSON document. @group may have no members and @report no
 * results yet.
 * @failure has status STATUS_PASS if all is well. Returns -1 if standard output could not be
 * written. */
int output_verdict(const struct options *options, const struct group *group,
		   const struct report *report, const struct failure *failure);

#endif
