/* SPDX-License-Identifier: MIT */
#include "bench/summary.h"
#include "bench/judge.h"

#include <math.h>
#include <stdlib.h>

static int summary_by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

void summary_sort(float *times, uint32_t count)
{
	qsort(times, count, sizeof(*times), summary_by_size);
}

void summary_of(float *slowest, uint32_t count, double usec, enum collective_kind kind, int world,
		struct result *result)
{
	double total = 0, squares = 0;

	for (uint32_t i = 0; i < count; i++)
		total += (double)slowest[i];
	for (uint32_t i = 0; i < count; i++)
		squares +=
			((double)slowest[i] - total / count) * ((double)slowest[i] - total / count);
	result->deviation_usec = sqrt(squares / count);
	summary_sort(slowest, count);
	result->usec = usec > 0 ? usec : total / count;
	result->min_usec = (double)slowest[0];
	result->max_usec = (double)slowest[count - 1];
	result->p50_usec = (double)slowest[count / 2];
	result->p95_usec = (double)slowest[(uint64_t)count * 95 / 100];
	result->p99_usec = (double)slowest[(uint64_t)count * 99 / 100];
	result->average_usec = total / count;
	result->algbw = result->usec > 0 ? (double)result->bytes / result->usec / 1000 : 0;
	result->algbw *= collective_share(kind, world);
	result->busbw = result->algbw * collective_factor(kind, world);
}

double summary_of_ranks(const struct result *result, int world, enum averaging average)
{
	double least = (double)result->ranks[0].usec, most = least, total = 0;

	for (int rank = 0; rank < world; rank++) {
		double usec = (double)result->ranks[rank].usec;

		least = usec < least ? usec : least;
		most = usec > most ? usec : most;
		total += usec;
	}
	switch (average) {
	case AVERAGE_RANK0:
		return (double)result->ranks[0].usec;
	case AVERAGE_RANKS:
		return total / world;
	case AVERAGE_LEAST:
		return least;
	case AVERAGE_MOST:
		return most;
	case AVERAGE_SLOWEST:
	case AVERAGE_COUNT:
		break;
	}
	return 0;
}

void summary_judge_speed(const struct bench *bench, struct report *report)
{
	const struct result *last = &report->results[report->count - 1];
	double slower = last->busbw;

	if (last->inplace && last[-1].busbw < slower)
		slower = last[-1].busbw;

	if (report->failure.status == STATUS_PASS && bench->min_busbw > 0 &&
	    slower < bench->min_busbw)
		failure_set(&report->failure, STATUS_BELOW, -1, "",
			    "busbw at %llu bytes is %.3f GB/s, below --min-busbw %.3f",
			    (unsigned long long)last->bytes, slower, bench->min_busbw);
}

double report_average(const struct report *report)
{
	double total = 0;

	for (size_t i = 0; i < report->count; i++)
		total += report->results[i].busbw;
	return report->count > 0 ? total / (double)report->count : 0;
}

void summary_judge_average(const struct bench *bench, struct report *report)
{
	double average = report_average(report);

	if (report->failure.status == STATUS_PASS && average < 0.9 * bench->min_average)
		failure_set(&report->failure, STATUS_BELOW, -1, "",
			    "busbw is %.3f GB/s on average, below 90 %% of NCCL_TESTS_MIN_BW=%.3f",
			    average, bench->min_average);
}

void report_forget(struct report *report)
{
	for (size_t i = 0; i < report->room; i++) {
		free(report->results[i].ranks);
		free(report->results[i].times);
		report->results[i] = (struct result){0};
	}
	report->count = 0;
}

void report_release(struct report *report)
{
	report_forget(report);
	free(report->results);
	free(report->warnings);
	heat_release(&report->heat);
}
