/* SPDX-License-Identifier: MIT */
/* What the times of all ranks and iterations come to, and whether that is enough. */
#ifndef WORKER_SUMMARY_H
#define WORKER_SUMMARY_H

#include "bench/bench.h"

void summary_sort(float *times, uint32_t count);

/* Turns the slowest rank's time of each iteration, which are sorted by it, into the result's numbers; @usec is their
 * average where it is known otherwise, else 0. */
void summary_of(float *slowest, uint32_t count, double usec, enum collective_kind kind, int world,
		struct result *result);

/* The time of a size by the ranks' own averages; 0: by each iteration's slowest rank. */
double summary_of_ranks(const struct result *result, int world, enum averaging average);

/* Sets report->failure where the bandwidth is below bench->min_busbw, or on average below 0.9 of
 * bench->min_average: nccl-tests lets a tenth be lacking. */
void summary_judge_speed(const struct bench *bench, struct report *report);
void summary_judge_average(const struct bench *bench, struct report *report);

#endif
