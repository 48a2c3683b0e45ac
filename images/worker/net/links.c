/* SPDX-License-Identifier: MIT */
#include "net/links.h"
#include "clock.h"
#include "host/limits.h"
#include "rendezvous/control.h"
#include "secret.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINK_MAGIC 0x334b4e4c474e4952u /* "RINGLNK3" */
#define PURPOSE_BYTES 32
#define LINK_HELLO_USEC 5000000	  /* how long a caller may take to prove who it is */
#define LINK_SILENT_USEC 50000	  /* after this it loses its place, if others want it, */
#define LINK_UNPROVEN_USEC 500000 /* or after this, if it has said hello */
#define LINK_RETRY_USEC 1000
#define LINK_STRANGERS_MAX 256
#define LINK_ACCEPTS 64 /* new callers between two looks at the others */

/* Who proves what: the caller, or the one who takes the call. */
static void links_prove(const struct group *group, bool caller, int taker_rank,
			const struct link_hello *hello, const uint8_t nonce[NONCE_BYTES],
			uint8_t proof[MAC_BYTES])
{
	static const char purposes[][PURPOSE_BYTES] = {"ringup link: it is taken",
						       "ringup link: it is called"};
	uint32_t rank = (uint32_t)taker_rank;
	struct hmac hmac;

	hmac_init(&hmac, group->run_key, sizeof(group->run_key));
	hmac_add(&hmac, purposes[caller], PURPOSE_BYTES);
	hmac_add(&hmac, group->run_id, sizeof(group->run_id));
	hmac_add(&hmac, hello, sizeof(*hello));
	hmac_add(&hmac, &rank, sizeof(rank));
	hmac_add(&hmac, nonce, NONCE_BYTES);
	hmac_finish(&hmac, proof);
}

/* Sends a message that fits into the socket's empty buffer. */
static int links_say(int fd, const void *data, size_t bytes)
{
	ssize_t sent = net_send_some(fd, data, bytes);

	return sent == (ssize_t)bytes ? 0 : sent < 0 ? (int)sent : -EPIPE;
}

/* Sets *err: the call failed with @error (negative). */
static int call_failed(const struct group *group, struct link_call *call, int error,
		       struct failure *err)
{
	const struct member *self = &group->members[group->rank],
			    *peer = &group->members[call->rank];

	if (call->fd >= 0)
		close(call->fd);
	call->fd = -1;
	return failure_set(
		err, error == -ETIMEDOUT ? STATUS_TIMEOUT : STATUS_LOST, call->rank, peer->host,
		"rank %d (%s) cannot connect to rank %d (%s) at %s port %u in phase bootstrap: %s; check --bind and firewalls",
		group->rank, self->host, call->rank, peer->host, peer->address,
		(unsigned)peer->port,
		error == -EPROTO ? "what answers there is not that rank" : strerror(-error));
}

/* Connects and says hello. */
static int call_begin(const struct group *group, struct link_call *call, int64_t deadline_usec,
		      struct failure *err)
{
	const struct member *peer = &group->members[call->rank];
	struct endpoint to;
	char port[8];
	int rc = -EADDRNOTAVAIL;

	memset(&call->hello, 0, sizeof(call->hello));
	call->hello.magic = LINK_MAGIC;
	call->hello.rank = (uint32_t)group->rank;
	call->hello.purpose = (uint32_t)call->purpose;
	call->have = 0;
	if (call->fd >= 0)
		close(call->fd);
	call->fd = -1;
	if (secret_random(call->hello.nonce, sizeof(call->hello.nonce), err) < 0)
		return -1;
	snprintf(port, sizeof(port), "%u", (unsigned)(uint16_t)peer->port);
	control_awaits(group->control, call->rank, 0);
	if (net_resolve(peer->address, port, &to) == 0)
		rc = call->fd = net_connect(&to, deadline_usec);
	if (rc >= 0)
		rc = links_say(call->fd, &call->hello, sizeof(call->hello));
	control_awaits(group->control, -1, 0);
	return rc < 0 ? call_failed(group, call, rc, err) : 0;
}

/* Reads on; once whoever was called has proven that it is the right one, so does this rank. A
 * connection that ends before begins anew: there may have been too many strangers. */
static int call_hear(const struct group *group, struct link_call *call, int64_t deadline_usec,
		     struct failure *err)
{
	struct link_challenge *challenge = &call->challenge;
	uint8_t proof[MAC_BYTES];
	ssize_t got = net_recv_some(call->fd, (char *)challenge + call->have,
				    sizeof(*challenge) - call->have);
	int rc;

	if (got < 0) {
		usleep(LINK_RETRY_USEC);
		return call_begin(group, call, deadline_usec, err);
	}
	call->have += (size_t)got;
	if (call->have < sizeof(*challenge))
		return 0;
	links_prove(group, false, call->rank, &call->hello, challenge->nonce, proof);
	if (!hmac_equal(proof, challenge->proof, sizeof(proof)) ||
	    hmac_equal(challenge->nonce, call->hello.nonce, NONCE_BYTES))
		return call_failed(group, call, -EPROTO, err);
	links_prove(group, true, call->rank, &call->hello, challenge->nonce, proof);
	rc = links_say(call->fd, proof, sizeof(proof));
	call->made = rc == 0;
	return rc < 0 ? call_failed(group, call, rc, err) : 0;
}

/* A data connection that has not proven yet which one it is. */
struct caller {
	int fd;
	int64_t since_usec;
	size_t have; /* bytes of `said` */
	struct {
		struct link_hello hello;
		uint8_t proof[MAC_BYTES];
	} said;
	uint8_t nonce[NONCE_BYTES];
};

/* The hello is whole: this rank proves who it is. Returns false if the caller is none. */
static bool links_greet(const struct group *group, struct caller *caller)
{
	const struct link_hello *hello = &caller->said.hello;
	struct link_challenge challenge;
	struct failure err;

	if (hello->magic != LINK_MAGIC || hello->rank >= (uint32_t)group->world ||
	    hello->purpose > LINK_MESH || (int)hello->rank == group->rank ||
	    secret_random(caller->nonce, sizeof(caller->nonce), &err) < 0)
		return false;
	memcpy(challenge.nonce, caller->nonce, sizeof(challenge.nonce));
	links_prove(group, false, group->rank, hello, caller->nonce, challenge.proof);
	return links_say(caller->fd, &challenge, sizeof(challenge)) == 0;
}

static bool links_is_proven(const struct group *group, const struct caller *caller)
{
	uint8_t proof[MAC_BYTES];

	links_prove(group, true, group->rank, &caller->said.hello, caller->nonce, proof);
	return hmac_equal(proof, caller->said.proof, sizeof(proof));
}

/* Reads on; true if the caller is done with, as a link or turned away. */
static bool links_hear(const struct group *group, const struct link_taker *taker,
		       struct caller *caller)
{
	const struct link_hello *hello = &caller->said.hello;
	bool greeted = caller->have >= sizeof(*hello);
	size_t want = greeted ? sizeof(caller->said) : sizeof(*hello);
	ssize_t got = net_recv_some(caller->fd, (char *)&caller->said + caller->have,
				    want - caller->have);

	caller->have += got > 0 ? (size_t)got : 0;
	if (got >= 0 && caller->have < want && clock_usec() < caller->since_usec + LINK_HELLO_USEC)
		return false;
	if (caller->have == want && !greeted && links_greet(group, caller))
		return links_hear(group, taker, caller);
	if (caller->have == want && greeted && links_is_proven(group, caller) &&
	    taker->take(taker->arg, (int)hello->rank, (int)hello->purpose, caller->fd))
		return true;
	close(caller->fd);
	return true;
}

/* All that one link_meet() waits for. */
struct meeting_point {
	const struct group *group;
	const struct link_taker *taker;
	struct link_call *calls;
	int call_count;
	struct caller *callers; /* that have not proven who they are, the oldest first */
	int caller_count;
	struct pollfd *polls; /* calls, callers, the listener */
};

static void links_forget(struct meeting_point *at, int index)
{
	at->caller_count--;
	memmove(&at->callers[index], &at->callers[index + 1],
		(size_t)(at->caller_count - index) * sizeof(at->callers[0]));
}

/* The place that a new caller may have: a free one, or that of the oldest who has said nothing for a
 * while, or has proven nothing for long; -1: none. */
static int links_place(const struct meeting_point *at)
{
	int64_t now = clock_usec();

	if (at->caller_count < LINK_STRANGERS_MAX)
		return at->caller_count;
	for (int i = 0; i < at->caller_count; i++)
		if (at->callers[i].have < sizeof(struct link_hello) &&
		    now - at->callers[i].since_usec > LINK_SILENT_USEC)
			return i;
	return now - at->callers[0].since_usec > LINK_UNPROVEN_USEC ? 0 : -1;
}

static int links_accept(struct meeting_point *at, struct failure *err)
{
	const struct group *group = at->group;
	const char *host = group->members[group->rank].host;
	char why[128];

	for (int i = 0; i < LINK_ACCEPTS; i++) {
		int place = links_place(at);
		int fd = place < 0 ? -1 : net_accept(at->group->listener);

		if (limits_refused(fd) && at->caller_count == 0) {
			limits_sentence(fd, why);
			return failure_set(err, STATUS_USAGE, group->rank, host,
					   "rank %d (%s) cannot accept a connection: %s",
					   group->rank, host, why);
		}
		if (fd < 0)
			return 0;
		if (place < at->caller_count) {
			close(at->callers[place].fd);
			links_forget(at, place);
		}
		at->callers[at->caller_count++] =
			(struct caller){.fd = fd, .since_usec = clock_usec()};
		if (links_hear(at->group, at->taker, &at->callers[at->caller_count - 1]))
			at->caller_count--;
	}
	return 0;
}

static void links_poll(struct meeting_point *at)
{
	struct pollfd *next = at->polls;

	for (int i = 0; i < at->call_count; i++)
		*next++ = (struct pollfd){.fd = at->calls[i].made ? -1 : at->calls[i].fd,
					  .events = POLLIN};
	for (int i = 0; i < at->caller_count; i++)
		*next++ = (struct pollfd){.fd = at->callers[i].fd, .events = POLLIN};
	*next++ =
		(struct pollfd){.fd = at->taker && links_place(at) >= 0 ? at->group->listener : -1,
				.events = POLLIN};
	poll(at->polls, (nfds_t)(next - at->polls), LINK_POLL_MSEC);
}

/* The rank that is waited for, -1: none. */
static int links_missing(const struct meeting_point *at)
{
	for (int i = 0; i < at->call_count; i++)
		if (!at->calls[i].made)
			return at->calls[i].rank;
	return at->taker ? at->taker->missing(at->taker->arg) : -1;
}

static int links_go_on(struct meeting_point *at, int64_t deadline_usec, struct failure *err)
{
	int callers = at->caller_count;

	links_poll(at);
	for (int i = 0; i < at->call_count; i++)
		if (at->polls[i].revents && !at->calls[i].made &&
		    call_hear(at->group, &at->calls[i], deadline_usec, err) < 0)
			return -1;
	if (!at->taker)
		return 0;
	for (int i = callers - 1; i >= 0; i--)
		if (links_hear(at->group, at->taker, &at->callers[i]))
			links_forget(at, i);
	return links_accept(at, err);
}

/* What was not there at the deadline. */
static int links_late(struct meeting_point *at, struct failure *err)
{
	for (int i = 0; i < at->call_count; i++)
		if (!at->calls[i].made)
			return call_failed(at->group, &at->calls[i], -ETIMEDOUT, err);
	return at->taker->late(at->taker->arg, err);
}

static int links_work(struct meeting_point *at, int64_t deadline_usec, struct failure *err)
{
	int missing;

	for (int i = 0; i < at->call_count; i++)
		if (call_begin(at->group, &at->calls[i], deadline_usec, err) < 0)
			return -1;
	while ((missing = links_missing(at)) >= 0) {
		if (clock_usec() >= deadline_usec || control_failed(at->group->control))
			return links_late(at, err);
		control_awaits(at->group->control, missing, 0);
		if (links_go_on(at, deadline_usec, err) < 0)
			return -1;
	}
	return 0;
}

int link_meet(const struct group *group, struct link_call *calls, int count,
	      const struct link_taker *taker, int64_t deadline_usec, struct failure *err)
{
	struct meeting_point at = {
		.group = group, .taker = taker, .calls = calls, .call_count = count};
	int rc;

	at.callers = calloc(LINK_STRANGERS_MAX, sizeof(*at.callers));
	at.polls = calloc((size_t)count + LINK_STRANGERS_MAX + 1, sizeof(*at.polls));
	if (!at.callers || !at.polls)
		abort();
	for (int i = 0; i < count; i++) {
		calls[i].fd = -1;
		calls[i].made = false;
	}
	rc = links_work(&at, deadline_usec, err);
	control_awaits(group->control, -1, 0);
	for (int i = 0; i < count && rc < 0; i++) {
		if (calls[i].fd >= 0)
			close(calls[i].fd);
		calls[i].fd = -1;
	}
	for (int i = 0; i < at.caller_count; i++)
		close(at.callers[i].fd);
	free(at.callers);
	free(at.polls);
	return rc;
}

int link_connect(const struct group *group, int rank, int purpose, int64_t deadline_usec,
		 struct failure *err)
{
	struct link_call call = {.rank = rank, .purpose = purpose};

	return link_meet(group, &call, 1, NULL, deadline_usec, err) < 0 ? -1 : call.fd;
}
