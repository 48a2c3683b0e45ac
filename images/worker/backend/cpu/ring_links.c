/* SPDX-License-Identifier: MIT */
#include "backend/cpu/ring_links.h"
#include "backend/cpu/segment.h"
#include "clock.h"
#include "net/links.h"

#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPINS 200	/* system calls that find nothing, before the first poll() */
#define SPINS_CROWDED 4 /* the same with more ranks than cores; the core is yielded in between */

/*
 * Of a connection to another rank on the same crowded cores. The kernel lets megabytes wait there;
 * whoever gets the core next finds them fallen out of its cache. 4 ranks on 2 cores with 1 MiB of
 * second-level cache each, bench/worker.sh: 4 MiB in 2.4 ms instead of 5.6, 64 MiB in 49 ms instead
 * of 81; with 1 MiB instead of this: 4.8 and 74. Two ranks with a core each lose by it up to 1 MiB.
 */
#define CROWDED_SEND_BYTES (256 * 1024)

/* Index of the leader that link @link comes from. */
static int previous(const struct ring *ring, int link)
{
	return (ring->me - (1 << link) % ring->count + ring->count) % ring->count;
}

int ring_wait(struct ring *ring, int link, bool sending, bool receiving, uint64_t done, int *idle)
{
	int next = (ring->me + (1 << link)) % ring->count;
	int other = receiving ? previous(ring, link) : next;
	struct pollfd polls[2] = {
		{.fd = sending ? ring->out[link] : -1, .events = POLLOUT},
		{.fd = receiving ? ring->in[link] : -1, .events = POLLIN},
	};

	if ((*idle)++ < (ring->crowded ? SPINS_CROWDED : SPINS)) {
		sched_yield();
		return 0;
	}
	control_awaits(ring->group->control, ring->leaders[other], done);
	if (poll(polls, 2, LINK_POLL_MSEC) > 0)
		control_awaits(ring->group->control, -1, 0);
	return control_failed(ring->group->control) ? -1 : 0;
}

int ring_lost(const struct ring *ring, int link, bool out, int error, struct failure *err)
{
	int step = (1 << link) % ring->count,
	    other = out ? (ring->me + step) % ring->count : previous(ring, link);
	int rank = ring->leaders[other];
	const char *host = ring->group->members[rank].host;

	return failure_set(err, STATUS_LOST, rank, host,
			   "rank %d (%s) is gone: its data connection to rank %d ended (%s)", rank,
			   host, ring->group->rank, strerror(error));
}

static bool ring_links_take(void *arg, int rank, int link, int fd)
{
	struct ring *ring = arg;

	if (link >= ring->links || ring->in[link] >= 0 ||
	    ring->leaders[previous(ring, link)] != rank)
		return false;
	ring->in[link] = fd;
	return true;
}

static int ring_links_missing(const void *arg)
{
	const struct ring *ring = arg;

	for (int link = 0; link < ring->links; link++)
		if (ring->in[link] < 0)
			return ring->leaders[previous(ring, link)];
	return -1;
}

static int ring_links_late(const void *arg, struct failure *err)
{
	const struct ring *ring = arg;
	const struct group *group = ring->group;
	int rank = ring_links_missing(arg);

	return failure_set(
		err, STATUS_TIMEOUT, rank, group->members[rank].host,
		"rank %d (%s) did not connect to rank %d (%s) in phase bootstrap; check --bind and firewalls",
		rank, group->members[rank].host, group->rank, group->members[group->rank].host);
}

/* Fills order and begin. */
static void sort_ranks(struct ring *ring, const int *leader_of)
{
	int world = ring->group->world, filled = 0;

	ring->order = calloc((size_t)world, sizeof(*ring->order));
	ring->begin = calloc((size_t)ring->count + 1, sizeof(*ring->begin));
	ring->pieces = calloc(2 * (size_t)world + 1, sizeof(*ring->pieces));
	if (!ring->order || !ring->begin || !ring->pieces)
		abort();
	for (int leader = 0; leader < ring->count; leader++) {
		ring->begin[leader] = filled;
		for (int rank = 0; rank < world; rank++)
			if (leader_of[rank] == ring->leaders[leader])
				ring->order[filled++] = rank;
	}
	ring->begin[ring->count] = filled;
}

static int ring_links_connect(struct ring *ring, struct failure *err)
{
	const struct link_taker taker = {.take = ring_links_take,
					 .missing = ring_links_missing,
					 .late = ring_links_late,
					 .arg = ring};
	int64_t deadline = clock_usec() + ring->group->timeout_usec;
	struct link_call calls[RING_LINKS_MAX];

	for (int link = 0; link < ring->links; link++)
		calls[link] = (struct link_call){
			.rank = ring->leaders[(ring->me + (1 << link)) % ring->count],
			.purpose = link};
	if (link_meet(ring->group, calls, ring->links, &taker, deadline, err) < 0)
		return -1;
	for (int link = 0; link < ring->links; link++) {
		ring->out[link] = calls[link].fd;
		if (ring->crowded && net_is_inside(ring->out[link]))
			net_limit_send(ring->out[link], CROWDED_SEND_BYTES);
	}
	return 0;
}

int ring_open(struct ring *ring, const struct group *group, const int *leaders, int count,
	      const int *leader_of, bool crowded, struct failure *err)
{
	memset(ring, 0, sizeof(*ring));
	ring->group = group;
	ring->leaders = leaders;
	ring->count = count;
	while (leaders[ring->me] != group->rank)
		ring->me++;
	for (int link = 0; link < RING_LINKS_MAX; link++)
		ring->out[link] = ring->in[link] = -1;
	while (1 << ring->links < count)
		ring->links++;
	ring->scratch = segment_private(RING_CHUNK_BYTES);
	ring->gathered = segment_private(RING_GATHER_BYTES);
	ring->crowded = crowded;
	sort_ranks(ring, leader_of);
	return ring_links_connect(ring, err);
}

void ring_release(struct ring *ring)
{
	for (int link = 0; link < ring->links; link++) {
		if (ring->out[link] >= 0)
			close(ring->out[link]);
		if (ring->in[link] >= 0)
			close(ring->in[link]);
	}
	free(ring->scratch);
	free(ring->gathered);
	free(ring->pieces);
	free(ring->order);
	free(ring->begin);
	memset(ring, 0, sizeof(*ring));
}
