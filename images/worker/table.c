/* SPDX-License-Identifier: MIT */
#include "table.h"
#include "output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define RANKS_SHOWN 32
#define STAMP_FORMAT "%Y-%m-%d %H:%M:%S"

static enum collective_kind table_kind(const struct options *options)
{
	return (enum collective_kind)options->workload.collective;
}

static void table_rank(const struct options *options, const struct group *group, int rank)
{
	const struct member *member = &group->members[rank];
	const struct device_name *device = output_device_of(options, rank);

	if (options->perf)
		printf("#  Rank %2d Group %2d Pid %6u on %10s device %2d [%.*s] %s", rank,
		       options->color > 0 ? options->color : 0, (unsigned)member->pid, member->host,
		       output_device_number(group, rank), OUTPUT_BUS_DIGITS,
		       device ? device->bus : "none", device ? device->model : "CPU");
	else
		printf("#  Rank %2d Pid %6u on %s (%s)", rank, (unsigned)member->pid, member->host,
		       member->address);
	if (device && !options->perf)
		printf(" [%s] %s %s", device->bus, device->model, device->uuid);
	printf("\n");
}

static void table_columns(const struct options *options)
{
	static const char *const heads[2][2] = {{"algbw", "(GB/s)"}, {"busbw", "(GB/s)"}};
	const char *spreads[2] = {"", ""};

	if (options->spreads) {
		spreads[0] = "    i_min    i_max    i_p99    i_cv%";
		spreads[1] = "     (us)     (us)     (us)      (%)";
		printf("#\n# %10s  %12s  %8s  %6s  %6s              out-of-place (+ per-iteration)                                in-place (+ per-iteration)\n",
		       "", "", "", "", "");
	} else {
		printf("#\n# %10s  %12s  %8s  %6s  %6s           out-of-place                       in-place          \n",
		       "", "", "", "", "");
	}
	for (int line = 0; line < 2; line++) {
		const char *time = line ? "(us)" : options->workload.host_time ? "cputime" : "time";

		printf("# %10s  %12s  %8s  %6s  %6s", line ? "(B)" : "size",
		       line ? "(elements)" : "count", line ? "" : "type", line ? "" : "redop",
		       line ? "" : "root");
		for (int place = 0; place < 2; place++)
			printf("  %7s  %6s  %6s  %6s%s", time, heads[0][line], heads[1][line],
			       line ? "" : "#wrong", spreads[line]);
		printf(" %s\n", !options->stamps ? "" : line ? STAMP_FORMAT : "timestamp");
	}
	fflush(stdout);
}

/* Rank 0's library, with its version, and the file that it is. */
static void table_library(const struct options *options, const struct group *group)
{
	if (group->members[0].library[0] != '\0')
		printf("# %s\n", group->members[0].library);
	if (output_library(options))
		printf("# %s\n", output_library(options));
}

/* How nccl-tests begins. */
static void table_perf_header(const struct options *options, const struct group *group)
{
	const struct workload *w = &group->workload;

	printf("# Collective test starting: %s_perf\n", collective_name(table_kind(options)));
	printf("# nThread %d nGpus %d minBytes %" PRIu64 " maxBytes %" PRIu64 " step: %" PRIu64
	       "(%s) warmup iters: %u iters: %u agg iters: %u validation: %u graph: %u unalign: %u\n",
	       options->threads > 0 ? options->threads : 1, options->gpus > 0 ? options->gpus : 1,
	       w->first_bytes, w->last_bytes, w->factor > 1 ? (uint64_t)w->factor : w->step_bytes,
	       w->factor > 1 ? "factor" : "bytes", w->warmups, w->iterations, w->aggregate,
	       w->checks, w->graph, w->unalign);
	if (w->blocking)
		printf("# Blocking Enabled: wait for completion%s after each collective%s \n",
		       w->blocking == BLOCKING_BARRIER ? " and barrier" : "",
		       w->blocking == BLOCKING_BARRIER ? "" : " (no barrier)");
	if (w->op == OP_COUNT && collective_reduces(table_kind(options)) &&
	    !backend_find(options->backend)->premultiplies)
		printf("# -o all: sum, prod, max, min and avg; mulsum is for nccl\n");
	printf("# allreduce %s, backend %s\n", ALLREDUCE_VERSION, output_backend(options));
	table_library(options, group);
	printf("#\n# Using devices\n");
}

static void table_own_header(const struct options *options, const struct group *group)
{
	const struct workload *w = &group->workload;
	static const char *const times[AVERAGE_COUNT] = {
		[AVERAGE_RANK0] = "rank 0's average",
		[AVERAGE_RANKS] = "the average of the ranks' averages",
		[AVERAGE_LEAST] = "the least of the ranks' averages",
		[AVERAGE_MOST] = "the most of the ranks' averages",
		[AVERAGE_SLOWEST] = "average over the iterations of the slowest rank's time"};

	printf("# allreduce %s, backend %s, %s, %d ranks\n", ALLREDUCE_VERSION,
	       output_backend(options), collective_name(table_kind(options)), group->world);
	printf("# minBytes %" PRIu64 " maxBytes %" PRIu64 " step: %" PRIu64
	       "(%s) warmup iters: %u iters: %u validation: %u\n",
	       w->first_bytes, w->last_bytes, w->factor > 1 ? (uint64_t)w->factor : w->step_bytes,
	       w->factor > 1 ? "factor" : "bytes", w->warmups, w->iterations, w->checks);
	printf("# time: %s\n#\n", times[w->average]);
	table_library(options, group);
	if (group->members[0].library[0] != '\0')
		printf("#\n");
}

void table_header(const struct options *options, const struct group *group)
{
	int shown = options->perf ? group->world : RANKS_SHOWN;

	if (options->json || options->quiet)
		return;
	if (options->perf)
		table_perf_header(options, group);
	else
		table_own_header(options, group);
	for (int rank = 0; rank < group->world && rank < shown; rank++)
		table_rank(options, group, rank);
	if (group->world > shown)
		printf("#  and %d more\n", group->world - shown);
	table_columns(options);
}

/* As nccl-tests: as many digits as there is room for. */
static void table_number(double value, int width)
{
	int digits = value < pow(10, width - 3) ? 2 : value < pow(10, width - 2) ? 1 : 0;

	printf("  %*.*f", width, digits, value);
}

static void table_time(const struct options *options, const struct result *result)
{
	if (!result) {
		printf("  %7s  %6s  %6s  %6s", "N/A", "N/A", "N/A", "N/A");
		for (int i = 0; i < 4 && options->spreads; i++)
			printf("  %7s", "N/A");
		return;
	}
	table_number(options->workload.host_time ? result->host_usec : result->usec, 7);
	table_number(result->algbw, 6);
	table_number(result->busbw, 6);
	if (options->workload.checks > 0 && !result->unchecked)
		printf("  %6" PRIu64, result->wrong);
	else
		printf("  %6s", "N/A");
	if (!options->spreads)
		return;
	table_number(result->min_usec, 7);
	table_number(result->max_usec, 7);
	table_number(result->p99_usec, 7);
	table_number(result->average_usec > 0 ? 100 * result->deviation_usec / result->average_usec
					      : 0,
		     7);
}

const char *table_op(const struct options *options, const struct result *result)
{
	/* nccl-tests has an operation for sendrecv, which does nothing */
	return collective_reduces(table_kind(options))		  ? op_name(result->op)
	       : options->perf && table_kind(options) == SENDRECV ? "sum"
								  : "none";
}

/* Only rank 0 prints, and there the workload of the options is that of the group. */
void table_row(void *arg, const struct result *out_of_place, const struct result *in_place)
{
	const struct options *options = arg;
	char stamp[32] = "";
	time_t now = time(NULL);
	struct tm parts;

	output_end_progress(options);
	if (options->json || options->quiet)
		return;
	printf("%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d", out_of_place->bytes,
	       out_of_place->count, dtype_long_name(out_of_place->type),
	       table_op(options, out_of_place),
	       collective_has_root(table_kind(options)) ? out_of_place->root : -1);
	table_time(options, out_of_place);
	table_time(options, in_place);
	if (options->stamps && localtime_r(&now, &parts))
		strftime(stamp, sizeof(stamp), "  " STAMP_FORMAT, &parts);
	printf("%s\n", stamp);
	fflush(stdout);
}

void table_end(const struct options *options, const struct report *report)
{
	double average = report_average(report), wanted = options->min_average;
	int wrong = 0;

	if (report->count == 0)
		return;
	for (size_t i = 0; i < report->count; i++)
		wrong += report->results[i].wrong > 0;
	if (options->workload.checks > 0 || options->perf) /* readers of nccl-tests want the line */
		printf("# %-20s : %d %s\n", "Out of bounds values", wrong, wrong ? "FAILED" : "OK");
	printf("# %-20s : %g %s\n", "Avg bus bandwidth", average,
	       wanted <= 0		? ""
	       : average < 0.9 * wanted ? "FAILED"
					: "OK");
	if (options->workload.checks == 0)
		printf("# nothing is checked (-c 0)\n");
	printf("#\n");
	if (options->perf)
		printf("# Collective test concluded: %s_perf\n#\n",
		       collective_name(table_kind(options)));
}
