/* SPDX-License-Identifier: MIT */
#include "report_file.h"
#include "json.h"
#include "output.h"
#include "table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FILE_VERSION 2
#define NUMBERS_MAX 10000

extern char **environ;

/* Opens a file that is not there yet, and keeps its name. */
static FILE *report_file_open(const char *name, char path[static PATH_MAX])
{
	int fd;

	snprintf(path, PATH_MAX, "%s", name);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	for (int i = 0; fd < 0 && errno == EEXIST && i < NUMBERS_MAX; i++) {
		snprintf(path, PATH_MAX, "%s.%d", name, i);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	}
	return fd < 0 ? NULL : fdopen(fd, "w");
}

static void report_file_time(FILE *to, const char *name, time_t when)
{
	char text[32] = "";
	struct tm parts;

	if (localtime_r(&when, &parts))
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts);
	fprintf(to, "\"%s\":\"%s\"", name, text);
}

static void report_file_words(FILE *to, const struct options *options)
{
	int shown = 0;

	fprintf(to, ",\"args\":[");
	for (int i = 0; i < options->word_count; i++) {
		fputs(i ? "," : "", to);
		json_write(to, options->words[i]);
	}
	fprintf(to, "],\"env\":[");
	for (char **word = environ; *word; word++)
		if (strncmp(*word, "NCCL_", 5) == 0 || strncmp(*word, "CUDA_", 5) == 0) {
			fputs(shown++ ? "," : "", to);
			json_write(to, *word);
		}
	fprintf(to, "]");
}

static const char *report_file_bool(bool value)
{
	return value ? "true" : "false";
}

static void report_file_config(FILE *to, const struct options *options, const struct group *group)
{
	const struct workload *w = &group->workload;

	fprintf(to, ",\"config\":{\"nthreads\":%d,\"ngpus\":%d",
		options->threads > 0 ? options->threads : 1, options->gpus > 0 ? options->gpus : 1);
	fprintf(to, ",\"minimum_bytes\":%" PRIu64 ",\"maximum_bytes\":%" PRIu64, w->first_bytes,
		w->last_bytes);
	if (w->factor > 1)
		fprintf(to, ",\"step_factor\":%u", w->factor);
	else
		fprintf(to, ",\"step_bytes\":%" PRIu64, w->step_bytes);
	fprintf(to,
		",\"warmup_iters\":%u,\"iterations\":%u,\"aggregated_iterations\":%u,\"validation\":%u,\"graph\":%u",
		w->warmups, w->iterations, w->aggregate, w->checks, w->graph);
	fprintf(to,
		",\"blocking_collectives\":\"%s\",\"per_iter_timing\":\"%s\",\"parallel_init\":\"true\",\"devices\":[",
		report_file_bool(w->blocking), report_file_bool(options->spreads));
	for (int rank = 0; rank < group->world; rank++) {
		const struct device_name *device = output_device_of(options, rank);
		char bus[OUTPUT_BUS_DIGITS + 1];

		fprintf(to, "%s{\"rank\":%d,\"group\":%d,\"pid\":%u,\"hostname\":", rank ? "," : "",
			rank, options->color > 0 ? options->color : 0,
			(unsigned)group->members[rank].pid);
		json_write(to, group->members[rank].host);
		snprintf(bus, sizeof(bus), "%.*s", OUTPUT_BUS_DIGITS, device ? device->bus : "");
		fprintf(to, ",\"device\":%d,\"device_hex\":", output_device_number(group, rank));
		json_write(to, bus);
		fprintf(to, ",\"device_info\":");
		json_write(to, device ? device->model : "CPU");
		fprintf(to, "}");
	}
	fprintf(to, "]}");
}

/* A row of result.times. */
static void report_file_times(FILE *to, const struct options *options, const struct result *r,
			      int row)
{
	uint32_t count = options->workload.iterations;

	fputc('[', to);
	for (uint32_t i = 0; i < count && r->times; i++)
		fprintf(to, "%s%f", i ? "," : "", (double)r->times[(size_t)row * count + i]);
	fputc(']', to);
}

/* What -I 1 adds, as nccl-tests' own scripts read it. */
static void report_file_iterations(FILE *to, const struct options *options, const char *name,
				   const struct result *r)
{
	double average = r->average_usec;

	fprintf(to,
		",\"%s_per_iter\":{\"min_us\":%f,\"max_us\":%f,\"avg_us\":%f,\"p50_us\":%f,\"p95_us\":%f,\"p99_us\":%f,\"stdev_us\":%f,\"cv_pct\":%f,\"times_us\":",
		name, r->min_usec, r->max_usec, average, r->p50_usec, r->p95_usec, r->p99_usec,
		r->deviation_usec, average > 0 ? 100 * r->deviation_usec / average : 0);
	report_file_times(to, options, r, 0);
	if (r->processes > 1) {
		fprintf(to, ",\"per_process_max_times_us\":[");
		for (int process = 0; process < r->processes; process++) {
			fputs(process ? "," : "", to);
			report_file_times(to, options, r, 1 + process);
		}
		fputc(']', to);
	}
	fputc('}', to);
}

static void report_file_numbers(FILE *to, const struct options *options, const char *name,
				const struct result *r)
{
	if (!r) {
		fprintf(to, ",\"%s\":null", name);
		return;
	}
	fprintf(to, ",\"%s\":{\"%s\":%f,\"alg_bw\":%f,\"bus_bw\":%f,\"nwrong\":", name,
		options->workload.host_time ? "cpu_time" : "time",
		options->workload.host_time ? r->host_usec : r->usec, r->algbw, r->busbw);
	if (options->workload.checks > 0 && !r->unchecked)
		fprintf(to, "%" PRIu64 "}", r->wrong);
	else
		fprintf(to, "null}");
	if (options->spreads)
		report_file_iterations(to, options, name, r);
}

static void report_file_results(FILE *to, const struct options *options,
				const struct report *report)
{
	enum collective_kind kind = (enum collective_kind)options->workload.collective;
	size_t each = collective_in_place(kind) ? 2 : 1;

	fprintf(to, ",\"results\":[");
	for (size_t i = 0; i + each <= report->count; i += each) {
		const struct result *r = &report->results[i];

		fprintf(to,
			"%s{\"size\":%" PRIu64 ",\"count\":%" PRIu64
			",\"type\":\"%s\",\"redop\":\"%s\",\"root\":\"%6d\"",
			i ? "," : "", r->bytes, r->count, dtype_long_name(r->type),
			table_op(options, r), collective_has_root(kind) ? r->root : -1);
		report_file_numbers(to, options, "out_of_place", r);
		report_file_numbers(to, options, "in_place", each == 2 ? r + 1 : NULL);
		fprintf(to, ",\"actual_iterations\":%u,\"experiment_name\":\"%s_perf\"}",
			options->workload.iterations, collective_name(kind));
	}
	fprintf(to, "]");
}

/* "NCCL 2.18.3, ..." as ncclGetVersion() has it: 21803, and 2804 before 2.9; 0 where it is another library. */
static int report_file_version(const char *library)
{
	int major, minor, patch;

	if (sscanf(library, "NCCL %d.%d.%d", &major, &minor, &patch) != 3)
		return 0;
	return major == 2 && minor < 9 ? major * 1000 + minor * 100 + patch
				       : major * 10000 + minor * 100 + patch;
}

static void report_file_close(FILE *to, const struct options *options, const struct report *report,
			      const struct failure *failure)
{
	double average = report_average(report);
	size_t wrong = 0;

	for (size_t i = 0; i < report->count; i++)
		wrong += report->results[i].wrong > 0;
	fprintf(to, ",\"out_of_bounds\":{\"count\":%zu,\"okay\":\"%s\"}", wrong,
		report_file_bool(report->whole && wrong == 0));
	fprintf(to, ",\"average_bus_bandwidth\":{\"bandwidth\":%f,\"okay\":\"%s\"}", average,
		options->min_average <= 0
			? "unchecked"
			: report_file_bool(report->whole && average >= 0.9 * options->min_average));
	fprintf(to, ",\"errors\":[");
	if (failure->status != STATUS_PASS)
		json_write(to, failure->reason);
	fprintf(to, "],");
	report_file_time(to, "end_time", time(NULL));
	fprintf(to, "}\n");
}

FILE *report_file_begin(const struct options *options)
{
	char path[PATH_MAX];
	FILE *to = report_file_open(options->output_file, path);

	if (!to) {
		fprintf(stderr, "allreduce: -J: cannot write %s: %s; the run goes on without it\n",
			path, strerror(errno));
		return NULL;
	}
	if (!options->json && !options->quiet)
		printf("# Writing JSON output to %s\n", path);
	fprintf(to, "{\"version\":%d,", FILE_VERSION);
	report_file_time(to, "start_time", options->started);
	report_file_words(to, options);
	return to;
}

int report_file_end(FILE *to, const struct options *options, const struct group *group,
		    const struct report *report, const struct failure *failure)
{
	bool bad;

	fprintf(to, ",\"nccl_version\":%d",
		group->members ? report_file_version(group->members[0].library) : 0);
	if (group->members)
		report_file_config(to, options, group);
	report_file_results(to, options, report);
	report_file_close(to, options, report, failure);
	bad = ferror(to);
	return fclose(to) != 0 || bad ? -1 : 0;
}
