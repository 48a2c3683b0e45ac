/* SPDX-License-Identifier: MIT */
/*
 * What rank 0 prints: the verdict or one JSON document on standard output (the table is table.h's), progress and warnings on
 * standard error.
 */
#ifndef WORKER_OUTPUT_H
#define WORKER_OUTPUT_H

#include "bench/bench.h"
#include "options.h"

/* On standard error: which device the rank has, if it has one. */
void output_device(const struct options *options, const struct group *group, int rank);

/* Warnings of the report from number @first on: one line each on standard error, unless --quiet. */
void output_warnings(const struct options *options, const struct group *group,
		     const struct report *report, int first);

/* Rank 0 says, in nccl-tests' words, that the GPUs have no memory for the largest sizes: in the table, else on standard
 * error, unless --quiet. */
void output_reduced(const struct options *options, const struct group *group);

/* If standard error is a terminal: a line there that the next one, or a row, replaces. @arg is the
 * struct options. */
void output_progress(void *arg, const char *text);

/* The end: the verdict line, or the whole JSON document. @group may have no members and @report no
 * results yet.
 * @failure has status STATUS_PASS if all is well. Returns -1 if standard output could not be
 * written. */
int output_verdict(const struct options *options, const struct group *group,
		   const struct report *report, const struct failure *failure);

/* How reports call the backend, the file of its library on this rank (NULL: none), and a rank's device (NULL: none). */
const char *output_backend(const struct options *options);
const char *output_library(const struct options *options);
const struct device_name *output_device_of(const struct options *options, int rank);

/* Which of its host's ranks a rank is, from 0: the number that nccl-tests gives to its device, and a bus id as it writes one. */
int output_device_number(const struct group *group, int rank);
#define OUTPUT_BUS_DIGITS 10 /* "0000:01:00" of "0000:01:00.0" */

/* Takes what output_progress() shows away. */
void output_end_progress(const struct options *options);

#endif
