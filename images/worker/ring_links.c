/* SPDX-License-Identifier: MIT */
/* The connections between leaders: how they come to be, how one waits on them. */
#include "clock.h"
#include "ring_internal.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINK_MAGIC 0x314b4e4c474e4952u /* "RINGLNK1" */
#define LINK_HELLO_USEC 5000000
#define LINK_STRANGERS_MAX 64
#define SPINS 200	/* system calls that find nothing, before the first poll() */
#define SPINS_CROWDED 4 /* the same with more ranks than cores; the core is yielded in between */
#define POLL_MSEC 20

/* The first bytes of a data connection. */
struct link_hello {
	uint64_t magic;
	uint8_t run_id[RUN_ID_BYTES];
	uint32_t leader, link;
};

int ring_wait(struct ring *ring, int link, bool sending, bool receiving, int *idle)
{
	int previous = (ring->me - (1 << link) % ring->count + ring->count) % ring->count;
	struct pollfd polls[2] = {
		{.fd = sending ? ring->out[link] : -1, .events = POLLOUT},
		{.fd = receiving ? ring->in[link] : -1, .events = POLLIN},
	};

	if ((*idle)++ < (ring->crowded ? SPINS_CROWDED : SPINS)) {
		sched_yield();
		return 0;
	}
	control_awaits(ring->group->control, receiving ? ring->leaders[previous] : -1);
	poll(polls, 2, POLL_MSEC);
	control_awaits(ring->group->control, -1);
	return control_failed(ring->group->control) ? -1 : 0;
}

int ring_lost(const struct ring *ring, int link, bool out, int error, struct failure *err)
{
	int step = (1 << link) % ring->count,
	    other = out ? ring->me + step : ring->me - step + ring->count;
	int rank = ring->leaders[other % ring->count];
	const char *host = ring->group->members[rank].host;

	return failure_set(err, STATUS_LOST, rank, host,
			   "rank %d (%s) is gone: its data connection to rank %d ended (%s)", rank,
			   host, ring->group->rank, strerror(error));
}

/* Connects to leader me + 2^@link. */
static int connect_link(struct ring *ring, int link, int64_t deadline, struct failure *err)
{
	int rank = ring->leaders[(ring->me + (1 << link)) % ring->count];
	const struct member *self = &ring->group->members[ring->group->rank],
			    *peer = &ring->group->members[rank];
	struct link_hello hello = {
		.magic = LINK_MAGIC, .leader = (uint32_t)ring->me, .link = (uint32_t)link};
	struct endpoint to;
	char port[8];
	int rc = -EADDRNOTAVAIL;

	memcpy(hello.run_id, ring->group->run_id, sizeof(hello.run_id));
	snprintf(port, sizeof(port), "%u", (unsigned)(uint16_t)peer->port);
	if (net_resolve(peer->address, port, &to) == 0)
		rc = net_connect(&to, deadline);
	if (rc >= 0) {
		ring->out[link] = rc;
		rc = net_send(rc, &hello, sizeof(hello), deadline);
	}
	if (rc >= 0)
		return 0;
	return failure_set(err, rc == -ETIMEDOUT ? STATUS_TIMEOUT : STATUS_LOST, rank, peer->host,
			   "rank %d (%s) cannot connect to rank %d (%s) at %s port %s in phase "
			   "bootstrap: %s; check --bind "
			   "and firewalls",
			   ring->group->rank, self->host, rank, peer->host, peer->address, port,
			   strerror(-rc));
}

/* A data connection that has not said yet which one it is. */
struct caller {
	int fd;
	int64_t deadline_usec;
	size_t have;
	struct link_hello hello;
};

/* Reads on; true if the caller is done with, as a link or turned away. */
static bool hear(struct ring *ring, struct caller *caller, int *missing)
{
	const struct link_hello *hello = &caller->hello;
	ssize_t got = net_recv_some(caller->fd, (char *)&caller->hello + caller->have,
				    sizeof(*hello) - caller->have);
	int expected;

	caller->have += got > 0 ? (size_t)got : 0;
	if (got >= 0 && caller->have < sizeof(*hello) && clock_usec() < caller->deadline_usec)
		return false;
	if (caller->have == sizeof(*hello) && hello->magic == LINK_MAGIC &&
	    hello->link < (uint32_t)ring->links &&
	    memcmp(hello->run_id, ring->group->run_id, sizeof(hello->run_id)) == 0) {
		expected =
			(ring->me - (1 << hello->link) % ring->count + ring->count) % ring->count;
		if (hello->leader == (uint32_t)expected && ring->in[hello->link] < 0) {
			ring->in[hello->link] = caller->fd;
			(*missing)--;
			return true;
		}
	}
	close(caller->fd);
	return true;
}

static void answer(struct ring *ring, struct caller *callers, int *count, int *missing)
{
	struct pollfd polls[LINK_STRANGERS_MAX + 1];
	int listener = ring->group->listener, known = *count, fd;

	for (int i = 0; i < known; i++)
		polls[i] = (struct pollfd){.fd = callers[i].fd, .events = POLLIN};
	polls[known] = (struct pollfd){.fd = listener, .events = POLLIN};
	poll(polls, (nfds_t)known + 1, POLL_MSEC);
	for (int i = known - 1; i >= 0; i--)
		if (hear(ring, &callers[i], missing))
			callers[i] = callers[--*count];
	if (*count < LINK_STRANGERS_MAX && (fd = net_accept(listener)) >= 0)
		callers[(*count)++] =
			(struct caller){.fd = fd, .deadline_usec = clock_usec() + LINK_HELLO_USEC};
}

static int no_call(const struct ring *ring, struct failure *err)
{
	for (int link = 0; link < ring->links; link++) {
		int rank = ring->leaders[(ring->me - (1 << link) % ring->count + ring->count) %
					 ring->count];
		const char *host = ring->group->members[rank].host;

		if (ring->in[link] < 0)
			return failure_set(err, STATUS_TIMEOUT, rank, host,
					   "rank %d (%s) did not connect to rank %d (%s) in phase "
					   "bootstrap; check --bind and "
					   "firewalls",
					   rank, host, ring->group->rank,
					   ring->group->members[ring->group->rank].host);
	}
	return -1;
}

static int accept_links(struct ring *ring, int64_t deadline, struct failure *err)
{
	struct caller callers[LINK_STRANGERS_MAX];
	int count = 0, missing = ring->links;

	while (missing > 0 && clock_usec() < deadline && !control_failed(ring->group->control))
		answer(ring, callers, &count, &missing);
	for (int i = 0; i < count; i++)
		close(callers[i].fd);
	return missing == 0 ? 0 : no_call(ring, err);
}

int ring_open(struct ring *ring, const struct group *group, const int *leaders, int count,
	      bool crowded, struct failure *err)
{
	int64_t deadline = clock_usec() + group->timeout_usec;

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
	ring->scratch = aligned_alloc(64, RING_CHUNK_BYTES);
	ring->gathered = aligned_alloc(64, RING_GATHER_BYTES);
	if (!ring->scratch || !ring->gathered)
		abort();
	ring->crowded = crowded;
	for (int link = 0; link < ring->links; link++)
		if (connect_link(ring, link, deadline, err) < 0)
			return -1;
	return accept_links(ring, deadline, err);
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
	memset(ring, 0, sizeof(*ring));
}
