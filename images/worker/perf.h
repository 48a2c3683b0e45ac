/* SPDX-License-Identifier: MIT */
/*
 * The worker as nccl-tests' programs (github.com/NVIDIA/nccl-tests, src/common.cu of version 2.19): a link called
 * all_reduce_perf, all_gather_perf, ... takes the same options with the same defaults, reads the same variables and
 * prints the same table. An option that is not possible here is refused by its name.
 */
#ifndef WORKER_PERF_H
#define WORKER_PERF_H

#include "failure.h"

#include <stdbool.h>

struct options;

/* The collective (enum collective_kind) of a program of that name or path, "all_reduce_perf" or
 * "all_reduce_perf_mpi"; -1: it is none of nccl-tests'. */
int perf_collective(const char *program);

/* Prints the programs' names, one a line. */
void perf_print(void);

/* nccl-tests' defaults, for that collective. */
void perf_set_defaults(struct options *options, int collective);

/* Reads NCCL_TESTS_MIN_BW, NCCL_TESTS_SPLIT, NCCL_TESTS_SPLIT_MASK and NCCL_TESTS_DEVICE. */
int perf_environment(struct options *options, struct failure *err);

/* The part of the run that process @process belongs to, by the words of NCCL_TESTS_SPLIT: "MOD 2", "DIV 8", "AND 0x7" or
 * "OR 4", also "%2", "/8", "&0x7" and "|4". -1: they are no such words. */
int perf_color(const char *words, int process, int *color);

#endif
