/* SPDX-License-Identifier: MIT */
#include "output.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define RANKS_SHOWN 32

static const char *backend_of(const struct options *options)
{
	const struct backend *backend = backend_find(options->backend);

	return backend ? backend->name : options->backend;
}

void output_header(const struct options *options, const struct group *group)
{
	const struct workload *w = &group->workload;

	if (options->json || options->quiet)
		return;
	printf("# allreduce %s, backend %s, %d ranks\n", ALLREDUCE_VERSION, backend_of(options),
	       group->world);
	printf("# minBytes %" PRIu64 " maxBytes %" PRIu64
	       " step: %u(factor) warmup iters: %u iters: %u validation: 1\n",
	       w->first_bytes, w->last_bytes, w->factor, w->warmups, w->iterations);
	printf("# time: average over the iterations of the slowest rank's time\n#\n");
	for (int rank = 0; rank < group->world && rank < RANKS_SHOWN; rank++)
		printf("#  Rank %2d Pid %6u on %s (%s)\n", rank, (unsigned)group->members[rank].pid,
		       group->members[rank].host, group->members[rank].address);
	if (group->world > RANKS_SHOWN)
		printf("#  and %d more\n", group->world - RANKS_SHOWN);
	printf("#\n#                                                              out-of-place     "
	       "                  "
	       "in-place          \n"
	       "#       size         count      type   redop    root     time   algbw   busbw  "
	       "#wrong     time   algbw   "
	       "busbw  #wrong \n"
	       "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)      "
	       "       (us)  (GB/s)  "
	       "(GB/s)         \n");
	fflush(stdout);
}

static void print_time(const struct result *result)
{
	int digits = result->usec < 100 ? 2 : result->usec < 10000 ? 1 : 0;

	printf("  %7.*f  %6.2f  %6.2f  %6" PRIu64, digits, result->usec, result->algbw,
	       result->busbw, result->wrong);
}

/* The workload of options is that of the group on rank 0, which alone prints. */
void output_row(void *arg, const struct result *out_of_place, const struct result *in_place)
{
	const struct options *options = arg;

	if (options->json || options->quiet)
		return;
	printf("%12" PRIu64 "  %12" PRIu64 "  %8s  %6s  %6d", out_of_place->bytes,
	       out_of_place->count, dtype_long_name((enum dtype)options->workload.type),
	       op_name((enum op)options->workload.op), -1);
	print_time(out_of_place);
	print_time(in_place);
	printf("\n");
	fflush(stdout);
}

/* A JSON string. Bytes above 127 pass: host names and messages are UTF-8 already or of no use to
 * anyone. */
static void print_string(const char *text)
{
	putchar('"');
	for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
		if (*c == '"' || *c == '\\')
			printf("\\%c", *c);
		else if (*c < 0x20 || *c > 0x7e)
			printf("\\u%04x", *c);
		else
			putchar(*c);
	}
	putchar('"');
}

static void print_pair(const char *name, const char *text)
{
	printf("\"%s\": ", name);
	print_string(text);
}

static void print_result(const struct options *options, const struct result *r)
{
	printf("{\"bytes\": %" PRIu64 ", \"count\": %" PRIu64
	       ", \"type\": \"%s\", \"op\": \"%s\", \"inplace\": %s, "
	       "\"usec\": %.3f, \"min_usec\": %.3f, \"max_usec\": %.3f, \"p50_usec\": %.3f, "
	       "\"p99_usec\": %.3f, "
	       "\"algbw\": %.6f, \"busbw\": %.6f, \"wrong\": %" PRIu64 "}",
	       r->bytes, r->count, dtype_name((enum dtype)options->workload.type),
	       op_name((enum op)options->workload.op), r->inplace ? "true" : "false", r->usec,
	       r->min_usec, r->max_usec, r->p50_usec, r->p99_usec, r->algbw, r->busbw, r->wrong);
}

static void print_failure(const struct failure *failure, const struct mismatch *first)
{
	printf("{\"rank\": %d, ", failure->rank);
	print_pair("host", failure->host);
	printf(", ");
	print_pair("phase", phase_name(failure->phase));
	printf(", ");
	print_pair("reason", failure->reason);
	if (failure->status == STATUS_DATA) {
		printf(", \"index\": %" PRIu64 ", ", first->first);
		print_pair("expected", first->expected);
		printf(", ");
		print_pair("got", first->got);
	}
	printf("}");
}

static void print_ranks(const struct group *group)
{
	for (int rank = 0; group->members && rank < group->world; rank++) {
		const struct member *member = &group->members[rank];

		if (member->host[0] == '\0')
			return; /* the table was never handed out */
		printf("%s\n    {\"rank\": %d, ", rank ? "," : "", rank);
		print_pair("host", member->host);
		printf(", ");
		print_pair("address", member->address);
		printf(", \"pid\": %u}", (unsigned)member->pid);
	}
}

static void print_json(const struct options *options, const struct group *group,
		       const struct report *report, const struct failure *failure)
{
	printf("{\"schema\": 1, \"program\": \"allreduce\", \"version\": \"%s\", ",
	       ALLREDUCE_VERSION);
	print_pair("backend", backend_of(options));
	printf(", \"world\": %d, ", options->world);
	print_pair("verdict", verdict_name(failure->status));
	printf(", \"status\": %d, ", failure->status);
	print_pair("reason", failure->status == STATUS_PASS ? "" : failure->reason);
	printf(",\n  \"results\": [");
	for (size_t i = 0; i < report->count; i++) {
		printf("%s\n    ", i ? "," : "");
		print_result(options, &report->results[i]);
	}
	printf("],\n  \"ranks\": [");
	print_ranks(group);
	printf("],\n  \"failure\": ");
	if (failure->status == STATUS_PASS)
		printf("null");
	else
		print_failure(failure, &report->first);
	printf("}\n");
}

int output_verdict(const struct options *options, const struct group *group,
		   const struct report *report, const struct failure *failure)
{
	bool pass = failure->status == STATUS_PASS;

	if (options->json)
		print_json(options, group, report, failure);
	else
		printf("# verdict: %s%s%s\n", verdict_name(failure->status), pass ? "" : ": ",
		       pass ? "" : failure->reason);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : -1;
}
