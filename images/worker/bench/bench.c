/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"
#include "bench/contents.h"
#include "bench/find.h"
#include "bench/judge.h"
#include "bench/run.h"
#include "bench/summary.h"
#include "bench/timing.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "text.h"
#include "workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t bench_buffer_bytes(const struct workload *workload, const struct backend *backend)
{
	uint64_t least = workload->type < DTYPE_COUNT ? dtype_bytes((enum dtype)workload->type)
						      : ELEMENT_BYTES_MAX;

	if (workload->find_slow && least < find_bytes_most(backend))
		least = find_bytes_most(backend);
	if (workload->sgd_steps && least < SGD_BYTES)
		least = SGD_BYTES;
	if (workload->last_bytes > least)
		least = workload->last_bytes;
	return least + workload->unalign * ELEMENT_BYTES_MAX;
}

/* Compares the output with @pattern. */
static int bench_compare(struct run *run, const struct pattern *pattern, int64_t started_usec,
			 struct mismatch *found, struct failure *err)
{
	const struct bench *bench = run->bench;
	const struct contents *contents = &run->contents;
	int rank = bench->group->rank;

	if (contents_await(contents, &run->call, &run->extent, err) < 0)
		return -1;
	control_end(bench->group->control);
	run->step_usec = clock_usec() - started_usec;
	if (fault_hits(bench->fault, FAULT_CORRUPT, rank) &&
	    contents_corrupt(contents, &run->call, &run->extent, err) < 0)
		return -1;
	return contents_check(contents, &run->call, pattern, rank, found, err);
}

/* One collective on whatever data there is, where nothing is checked. */
static int bench_touch(struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;
	int64_t started_usec;

	if (control_barrier(bench->group->control, err) < 0)
		return -1;
	if (run->salt++ == 1)
		fault_strike(bench->fault, PHASE_FIRST, bench->group->rank);
	started_usec = clock_usec();
	if (timing_collective(run, started_usec, err) < 0 || timing_settle(run, err) < 0)
		return -1;
	if (contents_await(&run->contents, &run->call, &run->extent, err) < 0)
		return -1;
	control_end(bench->group->control);
	run->step_usec = clock_usec() - started_usec;
	return 0;
}

/* One collective on fresh data; what is wrong stands in the part, of several checks the most. */
static int bench_check(struct run *run, struct failure *err)
{
	const struct group *group = run->bench->group;
	const struct collective *call = &run->call;
	struct pattern pattern = {.type = call->type,
				  .op = collective_reduces(call->kind) ? call->op : OP_NONE,
				  .world = group->world,
				  .salt = run->salt++,
				  .scaled = run->bench->backend->scales_first};
	struct part *part = (struct part *)run->part;
	struct mismatch found;
	int64_t started_usec;

	if (contents_fill(&run->contents, call, &run->extent, &pattern, group->rank, err) < 0 ||
	    control_barrier(group->control, err) < 0)
		return -1;
	if (pattern.salt == 1)
		fault_strike(run->bench->fault, PHASE_FIRST, group->rank);
	started_usec = clock_usec();
	if (timing_collective(run, started_usec, err) < 0 || timing_settle(run, err) < 0 ||
	    bench_compare(run, &pattern, started_usec, &found, err) < 0)
		return -1;
	if (part->mismatch.wrong == 0)
		part->mismatch = found;
	else if (found.wrong > part->mismatch.wrong)
		part->mismatch.wrong = found.wrong;
	return 0;
}

/* One rank's times, in a summary of its own. */
static struct rank_time rank_summary(const struct run *run, const struct part *part,
				     const float *times)
{
	uint32_t count = run->bench->group->workload.iterations;
	double total = 0;

	memcpy(run->sorted, times, count * sizeof(*times));
	summary_sort(run->sorted, count);
	for (uint32_t i = 0; i < count; i++)
		total += (double)times[i];
	return (struct rank_time){.usec = (float)(part->usec > 0 ? part->usec : total / count),
				  .p50_usec = run->sorted[count / 2],
				  .p99_usec = run->sorted[(uint64_t)count * 99 / 100]};
}

static void blame_data(const struct run *run, const struct result *result, int rank,
		       const struct mismatch *found, struct report *report)
{
	const char *host = run->bench->group->members[rank].host;
	const struct collective *call = &run->call;

	report->first = *found;
	failure_set(
		&report->failure, STATUS_DATA, rank, host,
		"wrong data on rank %d (%s): element %llu of %llu is %s, expected %s (%s %s%s%s, %s); %llu elements wrong there",
		rank, host, (unsigned long long)found->first, (unsigned long long)run->extent.recv,
		found->got, found->expected, collective_name(call->kind), dtype_name(call->type),
		collective_reduces(call->kind) ? " " : "",
		collective_reduces(call->kind) ? op_name(call->op) : "",
		result->inplace ? "in place" : "out of place", (unsigned long long)found->wrong);
}

/* Raises @row's times to @times. */
static void bench_raise(float *row, const float *times, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		row[i] = times[i] > row[i] ? times[i] : row[i];
}

/* Keeps one rank's times: among all and among those of its process. */
static void bench_keep_times(const struct run *run, int rank, const float *times,
			     struct result *result)
{
	int each = run->bench->keep_times, world = run->bench->group->world;
	uint32_t count = run->bench->group->workload.iterations;

	if (!each)
		return;
	result->processes = (world + each - 1) / each;
	if (!result->times)
		result->times =
			calloc((size_t)(1 + result->processes) * count, sizeof(*result->times));
	if (!result->times)
		abort();
	bench_raise(result->times, times, count);
	bench_raise(result->times + (size_t)(1 + rank / each) * count, times, count);
}

/* Rank 0: everybody's parts become one result. */
static void bench_merge(const struct run *run, struct result *result, struct report *report)
{
	int world = run->bench->group->world;
	uint32_t iterations = run->bench->group->workload.iterations;
	double queue_usec = 0;
	struct part own;
	float *slowest =
		(float *)(run->all +
			  sizeof(struct part)); /* rank 0's own times, raised to the maximum */

	result->ranks = calloc((size_t)world, sizeof(*result->ranks));
	if (!result->ranks)
		abort();
	result->algorithm =
		run->bench->backend->algorithm(run->bench->state, run->call.kind, result->bytes);
	for (int rank = 0; rank < world; rank++) {
		const unsigned char *part = run->all + (size_t)rank * run->part_bytes;
		const float *times = (const float *)(part + sizeof(struct part));
		struct part head;
		struct mismatch found;

		memcpy(&head, part, sizeof(head));
		found = head.mismatch;
		queue_usec = head.usec > queue_usec ? head.usec : queue_usec;
		text_tidy(found.expected, sizeof(found.expected));
		text_tidy(found.got, sizeof(found.got));
		result->wrong += found.wrong;
		if (found.wrong > 0 && report->failure.status == STATUS_PASS)
			blame_data(run, result, rank, &found, report);
		result->ranks[rank] = rank_summary(run, &head, times);
		bench_keep_times(run, rank, times, result);
		bench_raise(slowest, times, iterations);
	}
	if (run->bench->group->workload.average != AVERAGE_SLOWEST)
		queue_usec = summary_of_ranks(result, world,
					      (enum averaging)run->bench->group->workload.average);
	memcpy(&own, run->all, sizeof(own));
	result->host_usec = own.host_usec;
	summary_of(slowest, iterations, queue_usec, run->call.kind, world, result);
}

static void bench_show(const struct run *run, const struct result *result, const char *doing)
{
	const struct bench *bench = run->bench;
	char text[128];

	if (bench->group->rank != 0)
		return;
	snprintf(text, sizeof(text), "%s, %llu bytes (size %d of %d), %s: %s",
		 collective_name(run->call.kind), (unsigned long long)result->bytes, run->number,
		 run->sizes, result->inplace ? "in place" : "out of place", doing);
	bench->on_progress(bench->arg, text);
}

static int bench_first(struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;

	if (run->called || !bench->on_first)
		return 0;
	run->called = true;
	return bench->on_first(bench, bench->first_arg, err);
}

static int measure(struct run *run, struct result *result, struct report *report,
		   struct failure *err)
{
	struct control *control = run->bench->group->control;
	uint32_t checks = result->unchecked ? 0 : run->bench->group->workload.checks;

	memset(run->part, 0, run->part_bytes);
	bench_show(run, result, checks ? "checking" : "first");
	if (checks ? bench_check(run, err) < 0 : bench_touch(run, err) < 0)
		return -1;
	if (run->call.count > 0 && bench_first(run, err) < 0)
		return -1;
	control_phase(control, PHASE_RUN);
	bench_show(run, result, "timing");
	if (timing_warm_up(run, err) < 0)
		return -1;
	if (timing_measure(run, err) < 0)
		return -1;
	bench_show(run, result, "checking again");
	for (uint32_t i = 0; i < checks; i++)
		if (bench_check(run, err) < 0)
			return -1;
	if (control_gather(control, run->part, run->part_bytes, run->all, err) < 0)
		return -1;
	if (run->bench->group->rank == 0)
		bench_merge(run, result, report);
	return control_share(control, &report->failure, sizeof(report->failure), err);
}

/* Where the input and the output are. */
static void bench_place(struct run *run, bool inplace)
{
	const struct bench *bench = run->bench;
	size_t element_bytes = dtype_bytes(run->call.type), rank = (size_t)bench->group->rank;
	void *send, *recv;

	bench->backend->buffers(bench->state, &send, &recv);
	send = (char *)send + bench->group->workload.unalign * element_bytes;
	recv = (char *)recv + bench->group->workload.unalign * element_bytes;
	run->call.src = send;
	run->call.dst = recv;
	if (!inplace)
		return;
	run->call.src = (char *)recv + rank * run->extent.send_offset * element_bytes;
	run->call.dst = (char *)recv + rank * run->extent.recv_offset * element_bytes;
}

/* The results of one size, one or two, go to report->results[count]. */
static int measure_size(struct run *run, uint64_t bytes, struct report *report, struct failure *err)
{
	const struct bench *bench = run->bench;
	struct collective *call = &run->call;
	struct result *pair = &report->results[report->count];
	bool unchecked = collective_timed_in_place(call->kind) && bench->backend->begin;
	int placements = collective_in_place(call->kind) || unchecked ? 2 : 1;

	run->number++;
	run->extent = collective_extent(call->kind, bytes, call->type, bench->group->world);
	call->count = run->extent.count;
	bytes = run->extent.send > run->extent.recv ? run->extent.send : run->extent.recv;
	bytes *= dtype_bytes(call->type);
	for (int inplace = 0; inplace < placements; inplace++) {
		pair[inplace].count = call->count;
		pair[inplace].bytes = bytes;
		pair[inplace].inplace = inplace;
		pair[inplace].unchecked = inplace && unchecked;
		pair[inplace].type = call->type;
		pair[inplace].op = call->op;
		pair[inplace].root = call->root;
		bench_place(run, inplace);
		if (measure(run, &pair[inplace], report, err) < 0)
			return -1;
	}
	report->count += (size_t)placements;
	if (bench->group->rank == 0)
		bench->on_row(bench->arg, &pair[0], placements == 2 ? &pair[1] : NULL);
	return 0;
}

static int run_sizes(struct run *run, struct report *report, struct failure *err)
{
	const struct workload *w = &run->bench->group->workload;

	run->number = 0;
	for (uint64_t bytes = w->first_bytes; bytes <= w->last_bytes;
	     bytes = workload_next(w, bytes))
		if (measure_size(run, bytes, report, err) < 0)
			return -1;
	return 0;
}

/* All sizes with one type and one operation, from each root that is asked for. */
static int run_roots(struct run *run, struct report *report, struct failure *err)
{
	const struct workload *w = &run->bench->group->workload;
	bool all = w->root == ROOT_ALL && collective_has_root(run->call.kind);
	int first = w->root == ROOT_ALL ? 0 : (int)w->root,
	    last = all ? run->bench->group->world - 1 : first;

	for (run->call.root = first; run->call.root <= last; run->call.root++)
		for (uint32_t cycle = 0;
		     w->cycles ? cycle < w->cycles : report->failure.status == STATUS_PASS;
		     cycle++) {
			if (!w->cycles)
				report_forget(report);
			if (run_sizes(run, report, err) < 0)
				return -1;
		}
	return 0;
}

/* Nothing else than what is asked for, or of all that is possible. */
static bool bench_is_wished(const struct run *run, enum dtype type, enum op op)
{
	const struct bench *bench = run->bench;
	const struct workload *w = &bench->group->workload;
	bool reduces = collective_reduces(run->call.kind);
	enum op only = !reduces ? OP_SUM : (enum op)w->op;

	if ((w->type != DTYPE_COUNT && w->type != (uint32_t)type) ||
	    (only != OP_COUNT && only != op))
		return false;
	if (w->type != DTYPE_COUNT && (w->op != OP_COUNT || !reduces))
		return true;
	if (op == OP_MULSUM && !bench->backend->premultiplies)
		return false;
	return !bench->backend->can || bench->backend->can(bench->group, type, op);
}

/* nccl-tests' order of types and operations. */
static int bench_run_all(struct run *run, struct report *report, struct failure *err)
{
	static const enum dtype types[] = {DTYPE_I8,  DTYPE_U8,	  DTYPE_I32,	DTYPE_U32,
					   DTYPE_I64, DTYPE_U64,  DTYPE_F16,	DTYPE_F32,
					   DTYPE_F64, DTYPE_BF16, DTYPE_F8E4M3, DTYPE_F8E5M2};
	static const enum op ops[] = {OP_SUM, OP_PROD, OP_MAX, OP_MIN, OP_AVG, OP_MULSUM};
	struct control *control = run->bench->group->control;

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++)
		for (size_t o = 0; o < sizeof(ops) / sizeof(ops[0]); o++) {
			run->call.type = types[t];
			run->call.op = ops[o];
			if (bench_is_wished(run, types[t], ops[o]) &&
			    run_roots(run, report, err) < 0)
				return -1;
		}
	report->whole = true;
	if (report->count > 0) {
		summary_judge_speed(run->bench, report);
		summary_judge_average(run->bench, report);
		expect_judge(run->bench->expect, report);
	}
	report->failure.phase = PHASE_RUN;
	if (control_gather(control, NULL, 0, NULL, err) < 0)
		return -1;
	return control_share(control, &report->failure, sizeof(report->failure), err);
}

/* Room for all that may be asked for. */
static size_t bench_results(const struct bench *bench)
{
	const struct workload *w = &bench->group->workload;
	size_t results = 2 * workload_sizes(w) * (w->cycles ? w->cycles : 1);

	results *= w->type == DTYPE_COUNT ? DTYPE_COUNT : 1;
	results *= w->op == OP_COUNT ? OP_COUNT : 1;
	return results * (w->root == ROOT_ALL ? (size_t)bench->group->world : 1);
}

int bench_run(const struct bench *bench, struct report *report, struct failure *err)
{
	const struct workload *w = &bench->group->workload;
	struct run run = {
		.bench = bench, .call = {.kind = (enum collective_kind)w->collective}, .salt = 1};
	int rc;

	run.part_bytes = sizeof(struct part) + w->iterations * sizeof(float);
	run.part_bytes = (run.part_bytes + 7) & ~(size_t)7;
	run.part = calloc(1, run.part_bytes);
	run.sorted = malloc(w->iterations * sizeof(float));
	run.all = bench->group->rank == 0 ? calloc((size_t)bench->group->world, run.part_bytes)
					  : NULL;
	run.sizes = (int)workload_sizes(w);
	report->room = bench_results(bench);
	report->results = calloc(report->room, sizeof(*report->results));
	if (!run.part || !run.sorted || !report->results || (bench->group->rank == 0 && !run.all))
		abort();
	contents_init(&run.contents, bench->backend, bench->state,
		      bench_buffer_bytes(w, bench->backend), w->checks > 0);
	control_phase(bench->group->control, PHASE_FIRST);
	rc = bench_run_all(&run, report, err);
	if (rc == 0) /* with sizes of 0 only, there was none */
		rc = bench_first(&run, err);
	free(run.part);
	free(run.all);
	free(run.sorted);
	contents_release(&run.contents);
	return rc;
}
