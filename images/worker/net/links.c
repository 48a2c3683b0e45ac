/* SPDX-License-Identifier: MIT */
#include "net/links.h"
#include "clock.h"
#include "rendezvous/control.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINK_MAGIC 0x324b4e4c474e4952u /* "RINGLNK2" */
#define LINK_HELLO_USEC 5000000
#define LINK_STRANGERS_MAX 64

/* The first bytes of a data connection. */
struct link_hello {
	uint64_t magic;
	uint8_t run_id[RUN_ID_BYTES];
	uint32_t rank, purpose;
};

int link_connect(const struct group *group, int rank, int purpose, int64_t deadline_usec,
		 struct failure *err)
{
	const struct member *self = &group->members[group->rank], *peer = &group->members[rank];
	struct link_hello hello = {
		.magic = LINK_MAGIC, .rank = (uint32_t)group->rank, .purpose = (uint32_t)purpose};
	struct endpoint to;
	char port[8];
	int fd = -EADDRNOTAVAIL, rc = 0;

	memcpy(hello.run_id, group->run_id, sizeof(hello.run_id));
	snprintf(port, sizeof(port), "%u", (unsigned)(uint16_t)peer->port);
	control_awaits(group->control, rank, 0);
	if (net_resolve(peer->address, port, &to) == 0)
		fd = net_connect(&to, deadline_usec);
	if (fd >= 0)
		rc = net_send(fd, &hello, sizeof(hello), deadline_usec);
	control_awaits(group->control, -1, 0);
	if (fd >= 0 && rc >= 0)
		return fd;
	if (fd >= 0)
		close(fd);
	else
		rc = fd;
	return failure_set(
		err, rc == -ETIMEDOUT ? STATUS_TIMEOUT : STATUS_LOST, rank, peer->host,
		"rank %d (%s) cannot connect to rank %d (%s) at %s port %s in phase bootstrap: %s; check --bind and firewalls",
		group->rank, self->host, rank, peer->host, peer->address, port, strerror(-rc));
}

/* A data connection that has not said yet which one it is. */
struct caller {
	int fd;
	int64_t deadline_usec;
	size_t have;
	struct link_hello hello;
};

/* Reads on; true if the caller is done with, as a link or turned away. */
static bool links_hear(const struct group *group, const struct link_taker *taker,
		       struct caller *caller)
{
	const struct link_hello *hello = &caller->hello;
	ssize_t got = net_recv_some(caller->fd, (char *)&caller->hello + caller->have,
				    sizeof(*hello) - caller->have);

	caller->have += got > 0 ? (size_t)got : 0;
	if (got >= 0 && caller->have < sizeof(*hello) && clock_usec() < caller->deadline_usec)
		return false;
	if (caller->have == sizeof(*hello) && hello->magic == LINK_MAGIC &&
	    hello->rank < (uint32_t)group->world && hello->purpose <= LINK_MESH &&
	    memcmp(hello->run_id, group->run_id, sizeof(hello->run_id)) == 0 &&
	    taker->take(taker->arg, (int)hello->rank, (int)hello->purpose, caller->fd))
		return true;
	close(caller->fd);
	return true;
}

/* Callers that have not said who they are, the oldest first. */
struct callers {
	struct caller list[LINK_STRANGERS_MAX];
	int count;
};

static void links_forget(struct callers *callers, int index)
{
	callers->count--;
	memmove(&callers->list[index], &callers->list[index + 1],
		(size_t)(callers->count - index) * sizeof(callers->list[0]));
}

/* Members speak at once: if too many are silent, the oldest has to go, so that none keeps others
 * out. */
static void take_call(struct callers *callers, int fd)
{
	if (callers->count == LINK_STRANGERS_MAX) {
		close(callers->list[0].fd);
		links_forget(callers, 0);
	}
	callers->list[callers->count++] =
		(struct caller){.fd = fd, .deadline_usec = clock_usec() + LINK_HELLO_USEC};
}

static void links_answer(const struct group *group, const struct link_taker *taker,
			 struct callers *callers)
{
	struct pollfd polls[LINK_STRANGERS_MAX + 1];
	int known = callers->count, fd;

	for (int i = 0; i < known; i++)
		polls[i] = (struct pollfd){.fd = callers->list[i].fd, .events = POLLIN};
	polls[known] = (struct pollfd){.fd = group->listener, .events = POLLIN};
	poll(polls, (nfds_t)known + 1, LINK_POLL_MSEC);
	for (int i = known - 1; i >= 0; i--)
		if (links_hear(group, taker, &callers->list[i]))
			links_forget(callers, i);
	for (int i = 0; i < LINK_STRANGERS_MAX && (fd = net_accept(group->listener)) >= 0; i++) {
		take_call(callers, fd);
		if (links_hear(group, taker, &callers->list[callers->count - 1]))
			callers->count--;
	}
}

int link_accept(const struct group *group, const struct link_taker *taker, int64_t deadline_usec)
{
	struct callers callers = {.count = 0};
	int missing;

	while ((missing = taker->missing(taker->arg)) >= 0 && clock_usec() < deadline_usec &&
	       !control_failed(group->control)) {
		control_awaits(group->control, missing, 0);
		links_answer(group, taker, &callers);
	}
	control_awaits(group->control, -1, 0);
	for (int i = 0; i < callers.count; i++)
		close(callers.list[i].fd);
	return missing < 0 ? 0 : -1;
}
