/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* cpu_set_t */
#include "bench/find.h"
#include "bench/judge.h"
#include "bench/schedule.h"
#include "clock.h"
#include "health/nvml_link.h"
#include "host/placement.h"
#include "rendezvous/control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXCHANGES 3	 /* of a pair in a sweep: many sweeps see more than long ones */
#define PAUSE_USEC 20000 /* between sweeps, at most, once something looks slow */
#define SALT 4711
#define RING_ROUNDS 4
#define RING_TRIES 10
#define RING_USEC 400000 /* no further try after that */
#define MEET_BYTES 8	 /* exchanged first, so that both begin at the same time */

struct find {
	const struct bench *bench;
	struct schedule schedule;
	float *mine, *all;     /* [world], on rank 0 [world * world]: times of this sweep */
	unsigned char *expect; /* what a partner sends */
	unsigned char *host;   /* received data, for buffers in a device's memory */
	void *send, *recv;
	size_t bytes;	 /* that a pair exchanges */
	int sweeps;	 /* so far, with the one that warms up */
	uint32_t number; /* of the next exchange, the same on all ranks at the start of a batch */
};

/* What rank 0 says after a sweep. */
struct decision {
	int32_t again, suspect; /* the rank to leave out, -1: none */
	struct failure failure;
};

static void pattern_of(const struct find *f, int rank, void *data)
{
	const struct pattern pattern = {
		.type = DTYPE_U8, .op = OP_NONE, .world = f->bench->group->world, .salt = SALT};

	pattern_fill(&pattern, rank, data, FIND_BYTES);
}

/* Fills the send buffer with this rank's data, and the other one with what nobody sends. */
static int find_fill(struct find *f, struct failure *err)
{
	const struct bench *bench = f->bench;
	void *input = f->host ? f->host : f->send, *output = f->host ? f->host : f->recv;

	memset(output, 0xff, FIND_BYTES);
	if (f->host && bench->backend->put(bench->state, f->recv, output, FIND_BYTES, err) < 0)
		return -1;
	pattern_of(f, bench->group->rank, input);
	return f->host ? bench->backend->put(bench->state, f->send, input, FIND_BYTES, err) : 0;
}

/* A slow rank or link takes twice as long: as long again as it has taken. */
static void find_inject(const struct find *f, int peer, int64_t started_nsec)
{
	const struct bench *bench = f->bench;
	int rank = bench->group->rank;
	int64_t until = 2 * clock_nsec() - started_nsec;

	if (fault_hits(bench->fault, FAULT_SLOW, rank) || fault_hits_link(bench->fault, rank, peer))
		while (clock_nsec() < until)
			;
}

/* A queue's own clock begins when the two have met. This program's begins when the meeting is queued, which the later one
 * of the two does later. */
static int find_exchange(struct find *f, int peer, float *usec, struct failure *err)
{
	const struct backend *backend = f->bench->backend;
	void *state = f->bench->state;
	int64_t started, ended;
	double queue_usec = 0;

	control_begin(f->bench->group->control, clock_usec());
	if (backend->exchange(state, peer, MEET_BYTES, f->number++, err) < 0)
		return -1;
	started = clock_nsec();
	if (backend->begin && backend->begin(state, 1, err) < 0)
		return -1;
	if (backend->exchange(state, peer, f->bytes, f->number++, err) < 0)
		return -1;
	if (backend->begin &&
	    (backend->mark(state, err) < 0 || backend->finish(state, NULL, &queue_usec, err) < 0))
		return -1;
	ended = clock_nsec();
	find_inject(f, peer, started);
	*usec = (float)(clock_nsec() - (backend->begin ? ended : started)) / 1000 +
		(float)queue_usec;
	return 0;
}

/* Whether the first exchange with @peer brought what it sends. */
static int verify(struct find *f, int peer, struct failure *err)
{
	const struct group *group = f->bench->group;
	const unsigned char *got = f->host ? f->host : f->recv;
	size_t index = 0;

	if (f->host &&
	    f->bench->backend->get(f->bench->state, f->host, f->recv, FIND_BYTES, err) < 0)
		return -1;
	pattern_of(f, peer, f->expect);
	if (memcmp(got, f->expect, FIND_BYTES) == 0)
		return 0;
	while (got[index] == f->expect[index])
		index++;
	return failure_set(
		err, STATUS_DATA, group->rank, group->members[group->rank].host,
		"wrong data on rank %d (%s) from rank %d (%s): byte %zu of %zu is %u, expected %u",
		group->rank, group->members[group->rank].host, peer, group->members[peer].host,
		index, FIND_BYTES, got[index], f->expect[index]);
}

static int measure_here(struct find *f, int peer, bool first_time, struct failure *err)
{
	float usec, least;

	if (find_exchange(f, peer, &least, err) < 0)
		return -1;
	if (first_time && verify(f, peer, err) < 0)
		return -1;
	if (f->sweeps == 1) /* the first one that counts */
		fault_strike(f->bench->fault, PHASE_PAIRS, f->bench->group->rank);
	for (int i = 1; i < EXCHANGES; i++) {
		if (find_exchange(f, peer, &usec, err) < 0)
			return -1;
		least = usec < least ? usec : least;
	}
	control_end(f->bench->group->control);
	f->mine[peer] = least;
	return 0;
}

static int measure_pair(struct find *f, const struct turn *turn, bool first_time,
			struct failure *err)
{
	struct seat seat;
	int rc;

	placement_take(&seat, turn->seat + f->sweeps); /* no pair has its own cores */
	rc = measure_here(f, turn->peer, first_time, err);
	placement_leave(&seat);
	return rc;
}

/* Every pair once, beginning with another round each time; leaves this rank's times in `mine`. */
static int find_sweep(struct find *f, bool first_time, struct failure *err)
{
	const struct group *group = f->bench->group;
	int rounds = schedule_rounds(&f->schedule);

	memset(f->mine, 0, (size_t)group->world * sizeof(*f->mine));
	for (int i = 0; i < rounds; i++) {
		struct turn turn;
		int batches = schedule_round(&f->schedule, (i + f->sweeps) % rounds, &turn);

		for (int batch = 0; batch < batches; batch++) {
			uint32_t next = f->number + 2 * EXCHANGES;

			if (control_barrier(group->control, err) < 0)
				return -1;
			if (batch == turn.batch && measure_pair(f, &turn, first_time, err) < 0)
				return -1;
			f->number = next;
		}
	}
	return 0;
}

void find_sentence(const struct group *group, const struct finding *finding, char *text,
		   size_t bytes)
{
	const struct member *members = group->members;
	const char *where = finding->across ? "with other hosts" : "within its host";
	char who[2 * HOST_BYTES + 64], link[NVML_LINK_BYTES];

	nvml_link_name(finding->link, link);
	if (finding->kind == FINDING_HOST)
		snprintf(who, sizeof(who), "host %s", members[finding->rank].host);
	else if (finding->kind == FINDING_RANK)
		snprintf(who, sizeof(who), "rank %d (%s)", finding->rank,
			 members[finding->rank].host);
	else
		snprintf(who, sizeof(who), "the link between rank %d (%s) and rank %d (%s)",
			 finding->rank, members[finding->rank].host, finding->other,
			 members[finding->other].host);
	snprintf(
		text, bytes,
		"%s is slow: %.1f times as long as its like for exchanges%s%s%s%s (%.0f us against %.0f us)",
		who, finding->usec / finding->normal, finding->kind == FINDING_LINK ? "" : " ",
		finding->kind == FINDING_LINK ? "" : where, link[0] ? " over " : "", link,
		finding->usec, finding->normal);
}

static void find_blame(const struct group *group, const struct heat *heat, struct failure *failure)
{
	const struct finding *worst = &heat->findings[0];
	char text[320], more[32] = "";

	if (heat->unjudged) {
		failure_set(
			failure, STATUS_TIMEOUT, -1, "",
			"%d of the %d sweeps that judge %d ranks took %.0f s, so nobody is judged: these ranks share processors; name fewer hosts, or start fewer ranks on each",
			heat->sweeps, JUDGE_SWEEPS_SURE, heat->world, heat->seconds);
		failure->phase = PHASE_PAIRS;
	}
	if (heat->finding_count == 0)
		return;
	find_sentence(group, worst, text, sizeof(text));
	if (heat->finding_count > 1)
		snprintf(more, sizeof(more), "; and %d more", heat->finding_count - 1);
	failure_set(failure, STATUS_SLOW, worst->rank, group->members[worst->rank].host, "%s%s",
		    text, more);
	failure->phase = PHASE_PAIRS;
}

static void find_show(const struct find *f, const struct heat *heat)
{
	char text[96];

	snprintf(text, sizeof(text), "pairs: sweep %d, %.1f s, %d suspects", heat->sweeps,
		 heat->seconds, heat->finding_count + heat->unsure);
	f->bench->on_progress(f->bench->arg, text);
}

/*
 * Rank 0, after each sweep. The pauses are of no regular length: what else runs may be regular too.
 */
static void find_decide(const struct find *f, struct heat *heat, int64_t started_usec,
			struct decision *decision)
{
	judge_add(heat, f->all);
	decision->again = !judge_enough(heat, (double)(clock_usec() - started_usec) / 1e6);
	find_show(f, heat);
	if (decision->again && heat->sweeps >= JUDGE_SWEEPS_LEAST)
		usleep((unsigned)(clock_nsec() % PAUSE_USEC));
	decision->suspect = -1;
	if (heat->finding_count > 0 && heat->findings[0].kind == FINDING_RANK)
		decision->suspect = heat->findings[0].rank;
	if (!decision->again)
		find_blame(f->bench->group, heat, &decision->failure);
}

/* This rank's neighbour in @phase (0 or 1) of a ring of all ranks but @left_out, -1: none. */
static int neighbour(const struct group *group, int left_out, int phase)
{
	int count = group->world - (left_out >= 0), own = group->rank, other;

	if (own == left_out)
		return -1;
	own -= left_out >= 0 && own > left_out;
	other = (own + phase) % 2 == 0 ? own + 1 : own - 1;
	if (count % 2 == 0)
		other = (other + count) % count;
	if (other < 0 || other >= count || other == own)
		return -1;
	return other + (left_out >= 0 && other >= left_out);
}

/* Time of a few rounds in which all ranks but @left_out exchange with both neighbours of a ring:
 * the slowest rank's, the least of some tries. On rank 0. */
static int time_ring(struct find *f, int left_out, double *least_usec, struct failure *err)
{
	const struct group *group = f->bench->group;
	int64_t until = clock_usec() + RING_USEC;
	int32_t again = 1;

	*least_usec = 0;
	for (int attempt = 0; attempt < RING_TRIES && again; attempt++) {
		uint32_t first = f->number;
		float usec = 0, slowest = 0;
		int64_t begin;

		if (control_barrier(group->control, err) < 0)
			return -1;
		begin = clock_nsec();
		for (uint32_t step = 0; step < 2 * RING_ROUNDS; step++) {
			int peer = neighbour(group, left_out, (int)step % 2);

			if (step == RING_ROUNDS)
				fault_strike(f->bench->fault, PHASE_LEAVE_ONE_OUT, group->rank);
			f->number = first + 2 * step;
			if (peer < 0)
				control_begin(group->control, clock_usec());
			else if (find_exchange(f, peer, &usec, err) < 0)
				return -1;
		}
		usec = (float)(clock_nsec() - begin) / 1000;
		f->number = first + 4 * RING_ROUNDS;
		control_end(group->control);
		if (control_gather(group->control, &usec, sizeof(usec), f->all, err) < 0)
			return -1;
		for (int rank = 0; rank < group->world && group->rank == 0; rank++)
			slowest = f->all[rank] > slowest ? f->all[rank] : slowest;
		again = clock_usec() < until;
		if (control_share(group->control, &again, sizeof(again), err) < 0)
			return -1;
		if (attempt == 0 || (double)slowest < *least_usec)
			*least_usec = (double)slowest;
	}
	*least_usec /= RING_ROUNDS;
	return 0;
}

/* What the slowest rank costs the others. */
static int leave_one_out(struct find *f, struct heat *heat, int suspect, struct failure *err)
{
	heat->left_out = suspect;
	if (suspect < 0 || f->bench->group->world < 3)
		return 0;
	control_phase(f->bench->group->control, PHASE_LEAVE_ONE_OUT);
	if (time_ring(f, -1, &heat->all_usec, err) < 0)
		return -1;
	return time_ring(f, suspect, &heat->without_usec, err);
}

/* Brings what the ranks know of what lies between them to rank 0, where *link is allocated; NULL: the backend knows nothing. */
static int find_links_of(const struct bench *bench, uint8_t **link, struct failure *err)
{
	const struct group *group = bench->group;
	size_t world = (size_t)group->world;
	uint8_t *mine;
	int rc;

	*link = NULL;
	if (!bench->backend->links)
		return 0;
	mine = calloc(1, world);
	*link = group->rank == 0 ? calloc(world, world) : NULL;
	if (!mine || (group->rank == 0 && !*link))
		abort();
	bench->backend->links(bench->state, mine);
	rc = control_gather(group->control, mine, world, *link, err);
	free(mine);
	for (size_t a = 0; a < world && *link; a++)
		for (size_t b = a + 1; b < world; b++) {
			uint8_t *there = &(*link)[a * world + b], *back = &(*link)[b * world + a];

			/* one of the two may not see the other's */
			*there = *back = *there > *back ? *there : *back;
			if (*there >= PAIRS_UNKNOWN || *there == NVML_LINK_UNKNOWN)
				*there = *back = PAIRS_UNKNOWN;
		}
	return rc < 0 ? -1 : control_share(group->control, NULL, 0, err);
}

static void heat_init(struct heat *heat, const struct group *group)
{
	int *host = calloc((size_t)group->world, sizeof(*host));

	if (!host)
		abort();
	for (int rank = 0; rank < group->world; rank++)
		while (strcmp(group->members[host[rank]].host, group->members[rank].host) != 0)
			host[rank]++;
	judge_init(heat, group->world, host);
}

/* A sweep, whose times are brought to rank 0. */
static int find_measure(struct find *f, bool first_time, struct failure *err)
{
	const struct group *group = f->bench->group;

	if (find_sweep(f, first_time, err) < 0)
		return -1;
	f->sweeps++;
	return control_gather(group->control, f->mine, (size_t)group->world * sizeof(*f->mine),
			      f->all, err);
}

/* The sweep that does not count: afterwards all pairs are connected, and it is known how much they exchange. */
static int find_warm_up(struct find *f, struct failure *err)
{
	uint64_t bytes = 0;

	f->bytes = FIND_BYTES;
	if (find_fill(f, err) < 0 || find_measure(f, true, err) < 0)
		return -1;
	if (f->bench->group->rank == 0)
		bytes = schedule_bytes(f->bench->group->world, f->all, EXCHANGES, FIND_BYTES,
				       find_bytes_most(f->bench->backend));
	if (control_share(f->bench->group->control, &bytes, sizeof(bytes), err) < 0)
		return -1;
	f->bytes = (size_t)bytes;
	return 0;
}

static int run_sweeps(struct find *f, struct report *report, struct failure *err)
{
	const struct group *group = f->bench->group;
	struct decision decision = {.again = true};
	int64_t began = clock_usec(), started;

	if (find_warm_up(f, err) < 0)
		return -1;
	report->heat.bytes = f->bytes;
	started = clock_usec();
	report->heat.warm_up_seconds = (double)(started - began) / 1e6;
	while (decision.again) {
		if (find_measure(f, false, err) < 0)
			return -1;
		if (group->rank == 0)
			find_decide(f, &report->heat, started, &decision);
		if (control_share(group->control, &decision, sizeof(decision), err) < 0)
			return -1;
	}
	report->failure = decision.failure;
	return leave_one_out(f, &report->heat, decision.suspect, err);
}

static int open_schedule(struct find *f, struct failure *err)
{
	const struct group *group = f->bench->group;
	size_t bytes = (size_t)group->world * sizeof(int);
	int own = placement_cores(), *cores = calloc(1, bytes), rc;

	if (!cores)
		abort();
	rc = control_gather(group->control, &own, sizeof(own), cores, err);
	if (rc == 0)
		rc = control_share(group->control, cores, bytes, err);
	if (rc == 0)
		schedule_init(&f->schedule, group, cores);
	free(cores);
	return rc;
}

size_t find_bytes_most(const struct backend *backend)
{
	return backend->begin ? FIND_DEVICE_BYTES : FIND_BYTES;
}

int find_run(const struct bench *bench, struct report *report, struct failure *err)
{
	const struct group *group = bench->group;
	size_t world = (size_t)group->world;
	struct find f = {.bench = bench, .number = 1};
	int rc;

	control_phase(group->control, PHASE_PAIRS);
	if (open_schedule(&f, err) < 0)
		return -1;
	bench->backend->buffers(bench->state, &f.send, &f.recv);
	f.mine = calloc(world, sizeof(*f.mine));
	f.all = group->rank == 0 ? calloc(world * world, sizeof(*f.all)) : NULL;
	f.expect = malloc(FIND_BYTES);
	f.host = bench->backend->put ? malloc(FIND_BYTES) : NULL;
	if (!f.mine || !f.expect || (group->rank == 0 && !f.all) ||
	    (bench->backend->put && !f.host))
		abort();
	if (group->rank == 0)
		heat_init(&report->heat, group);
	rc = find_links_of(bench, &report->heat.link, err);
	if (rc == 0)
		rc = run_sweeps(&f, report, err);
	schedule_release(&f.schedule);
	free(f.mine);
	free(f.all);
	free(f.expect);
	free(f.host);
	return rc;
}
