/* SPDX-License-Identifier: MIT */
#include "bench/timing.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "workload.h"

#include <unistd.h>

#define SLOW_USEC 2000
#define MARKED_BYTES (16U << 20) /* beside larger sizes the marks, of 1 to 2 us each, are nothing */

/* Of the larger buffer; all ranks come to the same. */
static uint64_t timing_bytes(const struct run *run)
{
	size_t most = run->extent.send > run->extent.recv ? run->extent.send : run->extent.recv;

	return (uint64_t)most * dtype_bytes(run->call.type);
}

int timing_collective(const struct run *run, int64_t now_usec, struct failure *err)
{
	const struct bench *bench = run->bench;

	control_begin(bench->group->control, now_usec);
	return bench->backend->collective(bench->state, &run->call, err);
}

int timing_settle(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;

	return bench->backend->settle ? bench->backend->settle(bench->state, err) : 0;
}

static void timing_inject(const struct run *run, uint32_t iteration)
{
	const struct fault *fault = run->bench->fault;
	int rank = run->bench->group->rank;

	if (fault_hits(fault, FAULT_SLOW, rank))
		usleep(SLOW_USEC);
	if (iteration == run->bench->group->workload.iterations / 2)
		fault_strike(fault, PHASE_RUN, rank);
}

/*
 * The run's collective on another part of the buffers for each number, as far as they are larger than the size: what lies in
 * a GPU's cache from the last time does not count (nccl-tests, startColl() in common.cu).
 */
static struct collective timing_place(const struct run *run, uint64_t number)
{
	const struct bench *bench = run->bench;
	struct collective call = run->call;
	uint64_t bytes = timing_bytes(run),
		 places = bytes ? bench->group->workload.last_bytes / bytes : 0;

	if (!bench->backend->begin || places < 2)
		return call;
	call.src = (const char *)call.src + bytes * (number % places);
	call.dst = (char *)call.dst + bytes * (number % places);
	return call;
}

/* The collectives of one iteration. */
static int timing_iteration(const struct run *run, uint32_t iteration, int64_t now_usec,
			    struct failure *err)
{
	const struct bench *bench = run->bench;
	uint32_t count = bench->group->workload.aggregate;
	bool batch = count > 1 && bench->backend->batch;

	if (batch && bench->backend->batch(bench->state, true, err) < 0)
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		struct collective call = timing_place(run, (uint64_t)iteration * count + i);

		control_begin(bench->group->control, i > 0 ? clock_usec() : now_usec);
		if (bench->backend->collective(bench->state, &call, err) < 0)
			return -1;
	}
	return batch ? bench->backend->batch(bench->state, false, err) : 0;
}

/* After an iteration with BLOCKING_BARRIER: waits for all ranks. */
static int timing_meet(const struct run *run, struct failure *err)
{
	const struct group *group = run->bench->group;

	if (group->workload.blocking != BLOCKING_BARRIER)
		return 0;
	return control_barrier(group->control, err);
}

static int timing_iterate(const struct run *run, struct failure *err)
{
	for (uint32_t i = 0; i < run->bench->group->workload.iterations; i++) {
		timing_inject(run, i);
		if (timing_iteration(run, i, clock_usec(), err) < 0)
			return -1;
	}
	return 0;
}

/* All iterations, recorded once, as one piece of work. */
static int record(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;

	if (bench->backend->record(bench->state, true, err) < 0 || timing_iterate(run, err) < 0)
		return -1;
	return bench->backend->record(bench->state, false, err);
}

/* The steps from now on are so many collectives each: they may take twice the time that these should take, and then as long
 * as any step. */
static void timing_spare(const struct run *run, double collectives)
{
	control_spare(run->bench->group->control,
		      collectives > 1 ? (int64_t)(2 * collectives * (double)run->step_usec) : 0);
}

/* Notes how long the host took to put `iterations` of them into the queue. */
static void timing_note_host(const struct run *run, int64_t start_nsec, double iterations)
{
	struct part *part = (struct part *)run->part;

	part->host_usec = (double)(clock_nsec() - start_nsec) / 1000 / iterations /
			  run->bench->group->workload.aggregate;
}

/* Only the average is known of a graph, and nothing is heard of it before its end. */
static int time_graph(const struct run *run, float *times, double *usec, struct failure *err)
{
	const struct bench *bench = run->bench;
	const struct workload *w = &bench->group->workload;
	uint32_t iterations = w->iterations;
	double runs = (double)iterations * w->graph;
	int64_t start;

	if (record(run, err) < 0 || bench->backend->begin(bench->state, 1, err) < 0)
		return -1;
	timing_spare(run, runs * w->aggregate);
	control_begin(bench->group->control, clock_usec());
	start = clock_nsec();
	for (uint32_t i = 0; i < w->graph; i++)
		if (bench->backend->replay(bench->state, err) < 0)
			return -1;
	timing_note_host(run, start, runs);
	if (bench->backend->mark(bench->state, err) < 0 ||
	    bench->backend->finish(bench->state, NULL, usec, err) < 0)
		return -1;
	for (uint32_t i = 0; i < iterations; i++)
		times[i] = (float)(*usec / runs / w->aggregate);
	*usec /= w->graph;
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
			timing_inject(run, i);
		if (timing_iteration(run, i, clock_usec(), err) < 0 ||
		    bench->backend->mark(bench->state, err) < 0)
			return -1;
	}
	return 0;
}

/* Each iteration is waited for before the next one. */
static int time_blocking(const struct run *run, float *times, double *usec, struct failure *err)
{
	const struct bench *bench = run->bench;
	uint32_t iterations = bench->group->workload.iterations;
	int64_t before = clock_nsec(), start = before, after;

	for (uint32_t i = 0; i < iterations; i++) {
		double ignored;

		timing_inject(run, i);
		if (bench->backend->begin(bench->state, 1, err) < 0 ||
		    timing_iteration(run, i, clock_usec(), err) < 0 ||
		    bench->backend->mark(bench->state, err) < 0 ||
		    bench->backend->finish(bench->state, NULL, &ignored, err) < 0 ||
		    timing_meet(run, err) < 0)
			return -1;
		after = clock_nsec();
		times[i] = (float)(after - before) / 1000;
		before = after;
	}
	timing_note_host(run, start, iterations); /* it waits for each of them */
	*usec = (double)(before - start) / 1000;
	return 0;
}

/* Ranks leave a collective closer together than any barrier. */
static int timing_start_together(const struct run *run, struct failure *err)
{
	if (control_barrier(run->bench->group->control, err) < 0)
		return -1;
	return timing_collective(run, clock_usec(), err);
}

/* The average again, of iterations without marks between them, which take time in the queue, too. Of these nothing is
 * heard before the end, as of a graph. */
static int time_unmarked(const struct run *run, double *usec, struct failure *err)
{
	const struct bench *bench = run->bench;
	const struct workload *w = &bench->group->workload;
	int64_t start;

	control_end(bench->group->control);
	if (timing_start_together(run, err) < 0 || bench->backend->begin(bench->state, 1, err) < 0)
		return -1;
	start = clock_nsec();
	if (timing_iterate(run, err) < 0)
		return -1;
	timing_note_host(run, start, w->iterations);
	if (bench->backend->mark(bench->state, err) < 0)
		return -1;
	timing_spare(run, (double)w->iterations * w->aggregate);
	control_begin(bench->group->control, clock_usec());
	return bench->backend->finish(bench->state, NULL, usec, err);
}

/* *usec becomes the average. */
static int time_pipeline(const struct run *run, float *times, double *usec, struct failure *err)
{
	const struct bench *bench = run->bench;
	uint32_t iterations = bench->group->workload.iterations;
	int64_t start = clock_nsec();

	if (queue_up(run, iterations, true, err) < 0)
		return -1;
	timing_note_host(run, start, iterations);
	if (bench->backend->finish(bench->state, times, usec, err) < 0)
		return -1;
	if (timing_bytes(run) <= MARKED_BYTES)
		return time_unmarked(run, usec, err);
	return 0;
}

static int time_queue(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;
	const struct workload *w = &bench->group->workload;
	float *times = (float *)(run->part + sizeof(struct part));
	struct part *part = (struct part *)run->part;
	double usec = 0;
	int rc;

	if (w->graph)
		rc = time_graph(run, times, &usec, err);
	else if (w->blocking)
		rc = time_blocking(run, times, &usec, err);
	else
		rc = time_pipeline(run, times, &usec, err);
	if (rc < 0)
		return -1;
	control_end(bench->group->control);
	part->usec = usec / w->iterations / w->aggregate;
	for (uint32_t i = 0; i < w->iterations && !w->graph; i++)
		times[i] /= (float)w->aggregate;
	return 0;
}

static int time_iterations(const struct run *run, struct failure *err)
{
	const struct workload *workload = &run->bench->group->workload;
	float *times = (float *)(run->part + sizeof(struct part));
	int64_t before = clock_nsec(), after;

	for (uint32_t i = 0; i < workload->iterations; i++) {
		timing_inject(run, i);
		if (timing_iteration(run, i, before / 1000, err) < 0 || timing_meet(run, err) < 0)
			return -1;
		after = clock_nsec();
		times[i] = (float)(after - before) / 1000 / (float)workload->aggregate;
		before = after;
	}
	if (timing_settle(run, err) < 0)
		return -1;
	control_end(run->bench->group->control);
	return 0;
}

static int warm_up_queue(const struct run *run, struct failure *err)
{
	const struct bench *bench = run->bench;
	double ignored;

	timing_spare(run, bench->group->workload.aggregate);
	if (queue_up(run, bench->group->workload.warmups, false, err) < 0)
		return -1;
	return bench->backend->finish(bench->state, NULL, &ignored, err);
}

static int warm_up_now(const struct run *run, struct failure *err)
{
	for (uint32_t i = 0; i < run->bench->group->workload.warmups; i++)
		if (timing_collective(run, clock_usec(), err) < 0)
			return -1;
	return timing_settle(run, err);
}

int timing_warm_up(const struct run *run, struct failure *err)
{
	if (run->bench->backend->begin ? warm_up_queue(run, err) < 0 : warm_up_now(run, err) < 0)
		return -1;
	control_end(run->bench->group->control);
	control_spare(run->bench->group->control, 0);
	return timing_start_together(run, err);
}

int timing_measure(const struct run *run, struct failure *err)
{
	int rc;

	timing_spare(run, run->bench->group->workload.aggregate);
	rc = run->bench->backend->begin ? time_queue(run, err) : time_iterations(run, err);
	control_spare(run->bench->group->control, 0);
	return rc;
}
