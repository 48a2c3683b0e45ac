/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "bench/find.h"
#include "health/nvml_link.h"
#include "json.h"
#include "table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLEAR "\033[K" /* the rest of the terminal's line */
#define PAIRS_SHOWN 16

const char *output_backend(const struct options *options)
{
	const struct backend *backend = backend_find(options->backend);

	if (backend && backend->title)
		return backend->title();
	return backend ? backend->name : options->backend;
}

const char *output_library(const struct options *options)
{
	const struct backend *backend = backend_find(options->backend);

	return backend && backend->file && backend->file()[0] ? backend->file() : NULL;
}

const struct device_name *output_device_of(const struct options *options, int rank)
{
	const struct backend *backend = backend_find(options->backend);

	return backend && backend->device ? backend->device(rank) : NULL;
}

void output_device(const struct options *options, const struct group *group, int rank)
{
	const struct device_name *device = output_device_of(options, rank);

	if (device)
		fprintf(stderr, "allreduce: rank %d (%s) has %s, %s, %s\n", rank,
			group->members[rank].host, device->model, device->bus, device->uuid);
}

static void print_device(const struct options *options, int rank)
{
	const struct device_name *device = output_device_of(options, rank);

	if (!device) {
		printf("null");
		return;
	}
	printf("{");
	json_pair("model", device->model);
	printf(", ");
	json_pair("bus", device->bus);
	printf(", ");
	json_pair("uuid", device->uuid);
	printf("}");
}

static bool shows_progress(const struct options *options)
{
	return !options->quiet && isatty(STDERR_FILENO);
}

void output_progress(void *arg, const char *text)
{
	if (shows_progress(arg))
		fprintf(stderr, "\r" CLEAR "%s", text);
}

void output_end_progress(const struct options *options)
{
	if (shows_progress(options))
		fputs("\r" CLEAR, stderr);
}

void output_warnings(const struct options *options, const struct group *group,
		     const struct report *report, int first)
{
	if (first < report->warning_count)
		output_end_progress(options);
	for (int i = first; i < report->warning_count && !options->quiet; i++) {
		const struct warning *warning = &report->warnings[i];

		fprintf(stderr, "allreduce: warning: %s: %s (rank %d): %s; %s\n",
			group->members[warning->rank].host, warning->what, warning->rank,
			warning->why, warning->fix);
	}
}

static void output_print_result(const struct options *options, int world, const struct result *r)
{
	printf("{\"bytes\": %" PRIu64 ", \"count\": %" PRIu64
	       ", \"type\": \"%s\", \"op\": \"%s\", \"inplace\": %s, \"usec\": %.3f, \"min_usec\": %.3f, \"max_usec\": %.3f, \"p50_usec\": %.3f, \"p99_usec\": %.3f, \"algbw\": %.6f, \"busbw\": %.6f, \"wrong\": ",
	       r->bytes, r->count, dtype_name(r->type), table_op(options, r),
	       r->inplace ? "true" : "false", r->usec, r->min_usec, r->max_usec, r->p50_usec,
	       r->p99_usec, r->algbw, r->busbw);
	if (options->workload.checks > 0 && !r->unchecked)
		printf("%" PRIu64, r->wrong);
	else
		printf("null");
	printf(", \"algorithm\": \"%s\", \"ranks\": [", r->algorithm);
	for (int rank = 0; rank < world; rank++)
		printf("%s[%.3f, %.3f, %.3f]", rank ? ", " : "", (double)r->ranks[rank].usec,
		       (double)r->ranks[rank].p50_usec, (double)r->ranks[rank].p99_usec);
	printf("]}");
}

static void output_print_failure(const struct options *options, const struct failure *failure,
				 const struct mismatch *first)
{
	printf("{\"rank\": %d, ", failure->rank);
	json_pair("host", failure->host);
	printf(", ");
	json_pair("phase", phase_name(failure->phase));
	printf(", ");
	json_pair("reason", failure->reason);
	printf(", \"gpu\": ");
	print_device(options, failure->rank);
	if (failure->status == STATUS_DATA) {
		printf(", \"index\": %" PRIu64 ", ", first->first);
		json_pair("expected", first->expected);
		printf(", ");
		json_pair("got", first->got);
	}
	printf("}");
}

static void print_finding(const struct group *group, const struct finding *finding)
{
	static const char *const kinds[] = {
		[FINDING_RANK] = "rank", [FINDING_HOST] = "host", [FINDING_LINK] = "link"};
	char text[320];

	find_sentence(group, finding, text, sizeof(text));
	printf("{\"kind\": \"%s\", \"rank\": %d, \"other\": %d, ", kinds[finding->kind],
	       finding->rank, finding->other);
	json_pair("host", group->members[finding->rank].host);
	printf(", \"usec\": %.3f, \"normal_usec\": %.3f, ", finding->usec, finding->normal);
	json_pair("reason", text);
	printf("}");
}

/* What lies between two ranks of a host; "" where that is not known. */
static void output_print_links(const struct heat *heat)
{
	char name[NVML_LINK_BYTES];

	if (!heat->link) {
		printf("null");
		return;
	}
	for (int a = 0; a < heat->world; a++)
		for (int b = 0; b < heat->world; b++) {
			nvml_link_name(heat->link[(size_t)a * (size_t)heat->world + (size_t)b],
				       name);
			printf("%s\"%s\"", b > 0 ? ", " : a > 0 ? "], [" : "[[", name);
		}
	printf("]]");
}

/* The pair matrix: microseconds of an exchange, null where none was made. */
static void output_print_pairs(const struct group *group, const struct heat *heat)
{
	if (!heat->usec) {
		printf("null");
		return;
	}
	printf("{\"bytes\": %zu, \"sweeps\": %d, \"seconds\": %.3f, \"unsure\": %d, \"judged\": %s,\n    \"usec\": [",
	       heat->bytes, heat->sweeps, heat->seconds, heat->unsure,
	       heat->unjudged ? "false" : "true");
	for (int a = 0; a < heat->world; a++) {
		printf("%s\n      [", a ? "," : "");
		for (int b = 0; b < heat->world; b++) {
			float usec = heat->usec[(size_t)a * (size_t)heat->world + (size_t)b];

			printf(b ? ", " : "");
			if (usec > 0)
				printf("%.1f", (double)usec);
			else
				printf("null");
		}
		printf("]");
	}
	printf("],\n    \"links\": ");
	output_print_links(heat);
	printf(",\n    \"leave_one_out\": ");
	if (heat->left_out >= 0)
		printf("{\"rank\": %d, \"all_usec\": %.1f, \"without_usec\": %.1f}", heat->left_out,
		       heat->all_usec, heat->without_usec);
	else
		printf("null");
	printf(",\n    \"findings\": [");
	for (int i = 0; i < heat->finding_count; i++) {
		printf("%s\n      ", i ? "," : "");
		print_finding(group, &heat->findings[i]);
	}
	printf("]}");
}

static void output_print_sgd(const struct sgd *sgd)
{
	if (sgd->count == 0) {
		printf("null");
		return;
	}
	printf("{\"steps\": %d, \"batch\": %d, \"weights\": \"%016" PRIx64 "\", \"runs\": [",
	       sgd->steps, SGD_BATCH, sgd->weights);
	for (int i = 0; i < sgd->count; i++) {
		const struct sgd_run *run = &sgd->runs[i];

		printf("%s\n      {\"name\": \"%s\", \"learners\": %d, \"seconds\": %.4f, \"steps_per_second\": %.1f, \"efficiency\": %.4f, \"communication_share\": %.4f, \"loss\": %.9g, \"test_loss\": %.6f, \"test_right\": %.4f}",
		       i ? "," : "", run->name, run->learners, run->seconds, run->steps_per_second,
		       run->efficiency, run->share, run->loss, run->test_loss, run->test_right);
	}
	printf("]}");
}

/* Number of the rank's machine: the lowest rank that runs on it. Containers of one machine have
 * different host names. */
static int machine_of(const struct group *group, int rank)
{
	int first = 0;

	while (strcmp(group->members[first].kernel, group->members[rank].kernel) != 0)
		first++;
	return first;
}

int output_device_number(const struct group *group, int rank)
{
	int number = 0;

	for (int other = 0; other < rank; other++)
		number += strcmp(group->members[other].kernel, group->members[rank].kernel) == 0 &&
			  strcmp(group->members[other].host, group->members[rank].host) == 0;
	return number;
}

static void print_ranks(const struct options *options, const struct group *group)
{
	for (int rank = 0; group->members && rank < group->world; rank++) {
		const struct member *member = &group->members[rank];

		if (member->host[0] == '\0')
			return; /* the table was never handed out */
		printf("%s\n    {\"rank\": %d, ", rank ? "," : "", rank);
		json_pair("host", member->host);
		printf(", ");
		json_pair("address", member->address);
		printf(", \"pid\": %u, \"machine\": %d, \"cores\": %u, ", (unsigned)member->pid,
		       machine_of(group, rank), (unsigned)member->cores);
		json_pair("library", member->library);
		printf(", \"gpu\": ");
		print_device(options, rank);
		printf("}");
	}
}

static void print_warnings(const struct group *group, const struct report *report)
{
	for (int i = 0; i < report->warning_count; i++) {
		const struct warning *warning = &report->warnings[i];

		printf("%s\n    {", i ? "," : "");
		json_pair("host", group->members[warning->rank].host);
		printf(", \"rank\": %d, ", warning->rank);
		json_pair("what", warning->what);
		printf(", ");
		json_pair("why", warning->why);
		printf(", ");
		json_pair("fix", warning->fix);
		printf("}");
	}
}

static void output_print_json(const struct options *options, const struct group *group,
			      const struct report *report, const struct failure *failure)
{
	printf("{\"schema\": 1, \"program\": \"allreduce\", \"version\": \"%s\", ",
	       ALLREDUCE_VERSION);
	json_pair("backend", output_backend(options));
	printf(", \"collective\": \"%s\", \"world\": %d, ",
	       collective_name((enum collective_kind)options->workload.collective), options->world);
	json_pair("verdict", verdict_name(failure->status));
	printf(", \"status\": %d, ", failure->status);
	json_pair("reason", failure->status == STATUS_PASS ? "" : failure->reason);
	printf(",\n  ");
	json_pair("library_file", output_library(options) ? output_library(options) : "");
	printf(", \"checks\": %u,\n  \"results\": [", options->workload.checks);
	for (size_t i = 0; i < report->count; i++) {
		printf("%s\n    ", i ? "," : "");
		output_print_result(options, group->world, &report->results[i]);
	}
	printf("],\n  \"ranks\": [");
	print_ranks(options, group);
	printf("],\n  \"warnings\": [");
	print_warnings(group, report);
	printf("],\n  \"pairs\": ");
	output_print_pairs(group, &report->heat);
	printf(",\n  \"sgd\": ");
	output_print_sgd(&report->sgd);
	printf(",\n  \"expected\": ");
	expect_print_json(&options->expect, report);
	printf(",\n  \"failure\": ");
	if (failure->status == STATUS_PASS)
		printf("null");
	else
		output_print_failure(options, failure, &report->first);
	printf("}\n");
}

static bool output_has_unknown_links(const struct heat *heat)
{
	for (int a = 0; heat->link && a < heat->world; a++)
		for (int b = a + 1; b < heat->world; b++)
			if (heat->host[a] == heat->host[b] &&
			    heat->link[(size_t)a * (size_t)heat->world + (size_t)b] ==
				    PAIRS_UNKNOWN)
				return true;
	return false;
}

/* The matrix in GB/s each way, if it fits on a screen, and what was found. */
static void show_pairs(const struct group *group, const struct heat *heat)
{
	char text[320];

	if (!heat->usec)
		return;
	printf("#\n# pairs: %d sweeps in %.1f s, %zu bytes each way; GB/s each way%s\n",
	       heat->sweeps, heat->seconds, heat->bytes,
	       heat->world > PAIRS_SHOWN ? " are in --json" : "");
	for (int a = 0; a < heat->world && heat->world <= PAIRS_SHOWN; a++) {
		printf("# %3d", a);
		for (int b = 0; b < heat->world; b++) {
			float usec = heat->usec[(size_t)a * (size_t)heat->world + (size_t)b];

			if (usec > 0)
				printf(" %6.2f", (double)heat->bytes / (double)usec / 1000);
			else
				printf("      -");
		}
		printf("\n");
	}
	for (int i = 0; i < heat->finding_count; i++) {
		find_sentence(group, &heat->findings[i], text, sizeof(text));
		printf("# %s\n", text);
	}
	if (heat->left_out >= 0)
		printf("# all ranks exchange with both neighbours in %.0f us, without rank %d in %.0f us\n",
		       heat->all_usec, heat->left_out, heat->without_usec);
	if (output_has_unknown_links(heat))
		printf("# GPUs of a host are not compared where NVML does not say what lies between them\n");
	if (heat->unjudged)
		printf("# nobody is judged: there were fewer sweeps than that takes\n");
	else if (heat->unsure > 0)
		printf("# %d times look slow but came only by chance: the machine is too busy to tell; try again\n",
		       heat->unsure);
	if (heat->world < 3)
		printf("# two ranks are one pair: there is nothing to compare it with\n");
	else if (heat->finding_count == 0 && !heat->unjudged)
		printf("# no rank and no link is slow\n");
}

static void show_sgd(const struct sgd *sgd)
{
	if (sgd->count == 0)
		return;
	printf("#\n# sgd: %d steps of %d handwritten digits, %d weights; weights %016" PRIx64
	       " on every rank after 'sum'\n"
	       "#   way  learners   steps/s  efficiency  communication      loss  test right\n",
	       sgd->steps, SGD_BATCH, NETWORK_WEIGHTS, sgd->weights);
	for (int i = 0; i < sgd->count; i++) {
		const struct sgd_run *run = &sgd->runs[i];

		printf("# %6s  %7d  %8.1f  %8.1f %%  %11.1f %%  %8.5f  %8.1f %%\n", run->name,
		       run->learners, run->steps_per_second, 100 * run->efficiency,
		       100 * run->share, run->loss, 100 * run->test_right);
	}
}

void output_reduced(const struct options *options, const struct group *group)
{
	if (options->rank == 0 && !options->quiet && !options->silent)
		fprintf(options->json ? stderr : stdout,
			"#\n# Reducing maxBytes to %" PRIu64 " due to memory limitation\n",
			group->workload.last_bytes);
}

int output_verdict(const struct options *options, const struct group *group,
		   const struct report *report, const struct failure *failure)
{
	bool pass = failure->status == STATUS_PASS;

	output_end_progress(options);
	if (options->silent)
		return 0;
	if (options->json)
		output_print_json(options, group, report, failure);
	else if (!options->quiet) {
		if (report->whole)
			table_end(options, report);
		show_pairs(group, &report->heat);
		show_sgd(&report->sgd);
		expect_show(&options->expect, report);
	}
	if (!options->json && (!options->perf || options->quiet))
		printf("# verdict: %s%s%s\n", verdict_name(failure->status), pass ? "" : ": ",
		       pass ? "" : failure->reason);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
