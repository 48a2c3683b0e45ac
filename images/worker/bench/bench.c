/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"
#include "bench/find.h"
#include "bench/judge.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLOW_USEC 2000

/*
 * What each rank sends to rank 0 after a size; its iterations' times (float, microseconds) follow.
 */
struct part {
	struct mismatch mismatch;
	double usec; /* of a queue: the average by its own clock; 0: that of the times */
};

/* One size in one placement, on this rank. */
struct run {
	const struct bench *bench;
	struct collective call;
	struct extent extent;
	int number, sizes; /* of how many this size is which */
	uint32_t salt;
	bool called;	     /* there has been a first collective */
	int64_t step_usec;   /* how long the last check's collective took at most */
	unsigned char *part; /* struct part and the times */
	size_t part_bytes;
	float *sorted;	     /* [iterations] scratch */
	unsigned char *all;  /* rank 0: everybody's parts */
	unsigned char *host; /* for buffers in a device's memory, else NULL: what is copied there */
};

uint64_t bench_buffer_bytes(const struct workload *workload)
{
	uint64_t least = dtype_bytes((enum dtype)workload->type);

	if (workload->find_slow && least < FIND_BYTES)
		least = FIND_BYTES;
	if (workload->sgd_steps && least < SGD_BYTES)
		least = SGD_BYTES;
	return workload->last_bytes > least ? workload->last_bytes : least;
}

static int collective(const struct run *run, int64_t now_usec, struct failure *err)
{
	const struct bench *bench = run->bench;

	control_begin(bench->group->control, now_usec);
	return bench->backend->collective(bench->state, &run->call, err);
}

static int bench_settle(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;

	return bench->backend->settle ? bench->backend->settle(bench->state, err) : 0;
}

/* Fills the input with @pattern, and the output with what no result should be. */
static int bench_fill(const struct run *run, const struct pattern *pattern, struct failure *err)
{
	const struct bench *bench = run->bench;
	const struct collective *call = &run->call;
	size_t sent = run->extent.send * dtype_bytes(call->type),
	       received = run->extent.recv * dtype_bytes(call->type);
	void *input = (void *)(uintptr_t)call->src;

	memset(run->host ? run->host : call->dst, 0xff, received);
	if (run->host && bench->backend->put(bench->state, call->dst, run->host, received, err) < 0)
		return -1;
	pattern_fill(pattern, bench->group->rank, run->host ? run->host : input, run->extent.send);
	if (run->host)
		return bench->backend->put(bench->state, input, run->host, sent, err);
	return 0;
}

/* Compares the output with @pattern. */
static int bench_compare(struct run *run, const struct pattern *pattern, int64_t started_usec,
			 struct mismatch *found, struct failure *err)
{
	const struct bench *bench = run->bench;
	const struct collective *call = &run->call;
	size_t element_bytes = dtype_bytes(call->type), count = run->extent.recv;
	unsigned char *output = run->host ? run->host : call->dst;

	if (run->host &&
	    bench->backend->get(bench->state, output, call->dst, count * element_bytes, err) < 0)
		return -1;
	control_end(bench->group->control);
	run->step_usec = clock_usec() - started_usec;
	if (fault_hits(bench->fault, FAULT_CORRUPT, bench->group->rank) && count > 0)
		output[count / 2 * element_bytes] ^= 1;
	collective_check(call, pattern, bench->group->rank, output, found);
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

	if (bench_fill(run, &pattern, err) < 0 || control_barrier(group->control, err) < 0)
		return -1;
	if (pattern.salt == 1)
		fault_strike(run->bench->fault, PHASE_FIRST, group->rank);
	started_usec = clock_usec();
	if (collective(run, started_usec, err) < 0 || bench_settle(run, err) < 0 ||
	    bench_compare(run, &pattern, started_usec, &found, err) < 0)
		return -1;
	if (part->mismatch.wrong == 0)
		part->mismatch = found;
	else if (found.wrong > part->mismatch.wrong)
		part->mismatch.wrong = found.wrong;
	return 0;
}

static void bench_inject(const struct run *run, uint32_t iteration)
{
	const struct fault *fault = run->bench->fault;
	int rank = run->bench->group->rank;

	if (fault_hits(fault, FAULT_SLOW, rank))
		usleep(SLOW_USEC);
	if (iteration == run->bench->group->workload.iterations / 2)
		fault_strike(fault, PHASE_RUN, rank);
}

static int iterate(const struct run *run, struct failure *err)
{
	for (uint32_t i = 0; i < run->bench->group->workload.iterations; i++) {
		bench_inject(run, i);
		if (collective(run, clock_usec(), err) < 0)
			return -1;
	}
	return 0;
}

/* All iterations, recorded once, as one piece of work. */
static int record(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;

	if (bench->backend->record(bench->state, true, err) < 0 || iterate(run, err) < 0)
		return -1;
	return bench->backend->record(bench->state, false, err);
}

/* Only the average is known of a graph, and nothing is heard of it before its end: it has twice the time that its
 * iterations should take, and then as long as any step. */
static int time_graph(const struct run *run, float *times, double *usec, struct failure *err)
{
	const struct bench *bench = run->bench;
	uint32_t iterations = bench->group->workload.iterations;
	int64_t spare_usec = 2 * (int64_t)iterations * run->step_usec;

	if (record(run, err) < 0 || bench->backend->begin(bench->state, 1, err) < 0)
		return -1;
	control_begin(bench->group->control, clock_usec() + spare_usec);
	if (bench->backend->replay(bench->state, err) < 0 ||
	    bench->backend->mark(bench->state, err) < 0 ||
	    bench->backend->finish(bench->state, NULL, usec, err) < 0)
		return -1;
	for (uint32_t i = 0; i < iterations; i++)
		times[i] = (float)(*usec / iterations);
	return 0;
}

/* One collective after the other in the queue, each with a mark behind it. */
static int queue_up(const struct run *run, uint32_t count, bool timed, struct failure *err)
{
	const struct bench *bench = run->bench;

	if (bench->backend->begin(bench->state, count, err) < 0)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		if (timed)
			bench_inject(run, i);
		if (collective(run, clock_usec(), err) < 0 ||
		    bench->backend->mark(bench->state, err) < 0)
			return -1;
	}
	return 0;
}

static int time_queue(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;
	uint32_t iterations = bench->group->workload.iterations;
	float *times = (float *)(run->part + sizeof(struct part));
	struct part *part = (struct part *)run->part;
	double usec = 0;

	if (bench->group->workload.graph) {
		if (time_graph(run, times, &usec, err) < 0)
			return -1;
	} else if (queue_up(run, iterations, true, err) < 0 ||
		   bench->backend->finish(bench->state, times, &usec, err) < 0) {
		return -1;
	}
	control_end(bench->group->control);
	part->usec = usec / iterations;
	return 0;
}

static int time_iterations(const struct run *run, struct failure *err)
{
	const struct workload *workload = &run->bench->group->workload;
	float *times = (float *)(run->part + sizeof(struct part));
	int64_t before = clock_nsec(), after;

	for (uint32_t i = 0; i < workload->iterations; i++) {
		bench_inject(run, i);
		if (collective(run, before / 1000, err) < 0)
			return -1;
		after = clock_nsec();
		times[i] = (float)(after - before) / 1000;
		before = after;
	}
	if (bench_settle(run, err) < 0)
		return -1;
	control_end(run->bench->group->control);
	return 0;
}

static int warm_up_queue(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;
	double ignored;

	if (queue_up(run, bench->group->workload.warmups, false, err) < 0)
		return -1;
	return bench->backend->finish(bench->state, NULL, &ignored, err);
}

static int warm_up_now(const struct run *run, struct failure *err)
{
	for (uint32_t i = 0; i < run->bench->group->workload.warmups; i++)
		if (collective(run, clock_usec(), err) < 0)
			return -1;
	return bench_settle(run, err);
}

static int bench_warm_up(const struct run *run, struct failure *err)
{
	if (run->bench->backend->begin ? warm_up_queue(run, err) < 0 : warm_up_now(run, err) < 0)
		return -1;
	control_end(run->bench->group->control);
	if (control_barrier(run->bench->group->control, err) < 0)
		return -1;
	return collective(run, clock_usec(),
			  err); /* ranks leave this one closer together than any barrier */
}

static int by_size(const void *a, const void *b)
{
	float x = *(const float *)a, y = *(const float *)b;

	return (x > y) - (x < y);
}

/* Turns the slowest rank's time of each iteration into the result's numbers; @usec is their average where a queue
 * knows it, else 0. */
static void summarise(float *slowest, uint32_t count, double usec, enum collective_kind kind,
		      int world, struct result *result)
{
	double total = 0;

	for (uint32_t i = 0; i < count; i++)
		total += (double)slowest[i];
	qsort(slowest, count, sizeof(*slowest), by_size);
	result->usec = usec > 0 ? usec : total / count;
	result->min_usec = (double)slowest[0];
	result->max_usec = (double)slowest[count - 1];
	result->p50_usec = (double)slowest[count / 2];
	result->p99_usec = (double)slowest[(uint64_t)count * 99 / 100];
	result->algbw = result->usec > 0 ? (double)result->bytes / result->usec / 1000 : 0;
	result->algbw *= collective_share(kind, world);
	result->busbw = result->algbw * collective_factor(kind, world);
}

/* One rank's times, in a summary of its own. */
static struct rank_time rank_summary(const struct run *run, const struct part *part,
				     const float *times)
{
	uint32_t count = run->bench->group->workload.iterations;
	double total = 0;

	memcpy(run->sorted, times, count * sizeof(*times));
	qsort(run->sorted, count, sizeof(*times), by_size);
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

/* Rank 0: everybody's parts become one result. */
static void bench_merge(const struct run *run, struct result *result, struct report *report)
{
	int world = run->bench->group->world;
	uint32_t iterations = run->bench->group->workload.iterations;
	double queue_usec = 0;
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
		for (uint32_t i = 0; i < iterations; i++)
			slowest[i] = times[i] > slowest[i] ? times[i] : slowest[i];
	}
	summarise(slowest, iterations, queue_usec, run->call.kind, world, result);
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

	memset(run->part, 0, run->part_bytes);
	bench_show(run, result, "checking");
	if (bench_check(run, err) < 0)
		return -1;
	if (run->call.count > 0 && bench_first(run, err) < 0)
		return -1;
	control_phase(control, PHASE_RUN);
	bench_show(run, result, "timing");
	if (bench_warm_up(run, err) < 0)
		return -1;
	if (run->bench->backend->begin ? time_queue(run, err) < 0 : time_iterations(run, err) < 0)
		return -1;
	bench_show(run, result, "checking again");
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
	int placements = collective_in_place(call->kind) ? 2 : 1;

	run->number++;
	run->extent = collective_extent(call->kind, bytes, call->type, bench->group->world);
	call->count = run->extent.count;
	bytes = run->extent.send > run->extent.recv ? run->extent.send : run->extent.recv;
	bytes *= dtype_bytes(call->type);
	for (int inplace = 0; inplace < placements; inplace++) {
		pair[inplace].count = call->count;
		pair[inplace].bytes = bytes;
		pair[inplace].inplace = inplace;
		bench_place(run, inplace);
		if (measure(run, &pair[inplace], report, err) < 0)
			return -1;
	}
	report->count += (size_t)placements;
	if (bench->group->rank == 0)
		bench->on_row(bench->arg, &pair[0], placements == 2 ? &pair[1] : NULL);
	return 0;
}

/* The size after @bytes; nothing is skipped between 0 and one element. */
static uint64_t next_size(const struct workload *w, uint64_t bytes)
{
	uint64_t least = dtype_bytes((enum dtype)w->type);

	return bytes < least ? least : bytes * w->factor;
}

static size_t count_sizes(const struct workload *w)
{
	size_t count = 0;

	for (uint64_t bytes = w->first_bytes; bytes <= w->last_bytes; bytes = next_size(w, bytes))
		count++;
	return count;
}

static void judge_speed(const struct bench *bench, struct report *report)
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

static int run_sizes(struct run *run, struct report *report, struct failure *err)
{
	const struct workload *w = &run->bench->group->workload;

	for (uint64_t bytes = w->first_bytes; bytes <= w->last_bytes; bytes = next_size(w, bytes))
		if (measure_size(run, bytes, report, err) < 0)
			return -1;
	judge_speed(run->bench, report);
	expect_judge(run->bench->expect, report);
	report->failure.phase = PHASE_RUN;
	if (control_gather(run->bench->group->control, NULL, 0, NULL, err) < 0)
		return -1;
	return control_share(run->bench->group->control, &report->failure, sizeof(report->failure),
			     err);
}

int bench_run(const struct bench *bench, struct report *report, struct failure *err)
{
	const struct workload *w = &bench->group->workload;
	struct run run = {.bench = bench,
			  .call = {.kind = (enum collective_kind)w->collective,
				   .type = (enum dtype)w->type,
				   .op = (enum op)w->op,
				   .root = (int)w->root},
			  .salt = 1};
	int rc;

	run.part_bytes = sizeof(struct part) + w->iterations * sizeof(float);
	run.part_bytes = (run.part_bytes + 7) & ~(size_t)7;
	run.part = calloc(1, run.part_bytes);
	run.sorted = malloc(w->iterations * sizeof(float));
	run.all = bench->group->rank == 0 ? calloc((size_t)bench->group->world, run.part_bytes)
					  : NULL;
	run.sizes = (int)count_sizes(w);
	report->room = 2 * count_sizes(w);
	report->results = calloc(report->room, sizeof(*report->results));
	if (bench->backend->put)
		run.host = malloc(bench_buffer_bytes(w));
	if (!run.part || !run.sorted || !report->results || (bench->group->rank == 0 && !run.all) ||
	    (bench->backend->put && !run.host))
		abort();
	control_phase(bench->group->control, PHASE_FIRST);
	rc = run_sizes(&run, report, err);
	if (rc == 0) /* with sizes of 0 only, there was none */
		rc = bench_first(&run, err);
	free(run.part);
	free(run.all);
	free(run.sorted);
	free(run.host);
	return rc;
}

void report_release(struct report *report)
{
	for (size_t i = 0; i < report->room; i++)
		free(report->results[i].ranks);
	free(report->results);
	free(report->warnings);
	heat_release(&report->heat);
}
