/* SPDX-License-Identifier: MIT */
#include "rendezvous/reception.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "rendezvous/rendezvous.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A connection that has not yet said who it is. */
struct stranger {
	int fd;
	int64_t deadline_usec;
	size_t have;
	struct hello hello;
};

struct reception {
	const struct options *options;
	struct group *group;
	int *fds;
	int joined;
	struct introduction *intros; /* [world] */
	bool *met;		     /* [world] */
	struct stranger *strangers;  /* oldest first */
	int count;
};

static void send_abort(int fd, const struct failure *failure)
{
	struct frame head = {.type = FRAME_ABORT, .bytes = sizeof(*failure)};
	int64_t deadline = clock_usec() + 1000000;

	if (net_send(fd, &head, sizeof(head), deadline) == 0)
		net_send(fd, failure, sizeof(*failure), deadline);
}

static void reception_forget(struct reception *r, int index)
{
	r->count--;
	memmove(&r->strangers[index], &r->strangers[index + 1],
		(size_t)(r->count - index) * sizeof(r->strangers[0]));
}

/* Turns a connection away; with @reason it is told why. */
static void turn_away(struct reception *r, int index, const char *why, const char *reason)
{
	struct failure failure = {.phase = PHASE_JOIN};
	char name[ADDRESS_BYTES] = "unknown";
	struct endpoint from;
	int fd = r->strangers[index].fd;

	if (net_remote(fd, &from) == 0)
		net_name(&from, name);
	fprintf(stderr, "allreduce: turned away a connection from %s: %s\n", name, why);
	if (reason) {
		failure_set(&failure, STATUS_USAGE, -1, "", "rank 0 turned this rank away: %s",
			    reason);
		send_abort(fd, &failure);
	}
	close(fd);
	reception_forget(r, index);
}

static void take_stranger(struct reception *r)
{
	struct stranger *new;
	int fd = net_accept(r->options->root_listener);

	if (fd < 0)
		return;
	if (r->count == STRANGERS_MAX)
		turn_away(r, 0, "too many connections that say nothing", NULL);
	new = &r->strangers[r->count++];
	memset(new, 0, sizeof(*new));
	new->fd = fd;
	new->deadline_usec = clock_usec() + HELLO_USEC;
}

/* Whether a rank that is waiting for the others ended meanwhile: it says nothing before it is
 * welcomed. */
static bool has_left(int fd)
{
	char byte;
	ssize_t got = recv(fd, &byte, sizeof(byte), MSG_PEEK | MSG_DONTWAIT);

	return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/* Two builds of one version may differ in what follows the greeting. */
static void name_version(const struct greeting *greeting, char version[VERSION_BYTES])
{
	snprintf(version, VERSION_BYTES, "%s", greeting->version);
	if (greeting->protocol != PROTOCOL)
		snprintf(version, VERSION_BYTES, "%.11s of protocol %u", greeting->version,
			 greeting->protocol);
}

/* Makes a member of the stranger whose hello is complete (or whose greeting is, if its protocol is
 * another). */
static void admit(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];
	struct greeting *greeting = &s->hello.greeting;
	uint32_t rank = greeting->rank;
	char reason[160];

	hello_tidy(&s->hello);
	if (greeting->world != (uint32_t)r->group->world || rank == 0 || rank >= greeting->world) {
		snprintf(reason, sizeof(reason),
			 "it says rank %u of %u, but the world has %d ranks", rank, greeting->world,
			 r->group->world);
		turn_away(r, index, reason, reason);
		return;
	}
	if (r->met[rank] && !has_left(r->fds[rank])) {
		snprintf(reason, sizeof(reason), "rank %u is there already, on %s", rank,
			 r->intros[rank].member.host);
		turn_away(r, index, reason, reason);
		return;
	}
	if (r->met[rank])
		close(r->fds[rank]);
	else
		r->joined++;
	r->met[rank] = true;
	r->fds[rank] = s->fd;
	r->intros[rank] = s->hello.intro;
	memcpy(r->intros[rank].member.host, greeting->host, sizeof(greeting->host));
	name_version(greeting, r->intros[rank].member.version);
	reception_forget(r, index);
}

/* Reads on from a stranger. Returns true if it is still one. */
static bool reception_hear(struct reception *r, int index)
{
	struct stranger *s = &r->strangers[index];
	const struct greeting *greeting = &s->hello.greeting;
	bool greeted = s->have >= sizeof(*greeting);
	size_t want = greeted ? sizeof(s->hello) : sizeof(*greeting);
	ssize_t got = net_recv_some(s->fd, (char *)&s->hello + s->have, want - s->have);

	if (got < 0) {
		turn_away(r, index, "it left before it said who it is", NULL);
		return false;
	}
	s->have += (size_t)got;
	if (s->have < want)
		return true;
	if (!greeted && greeting->magic != HELLO_MAGIC) {
		turn_away(r, index, "it is no allreduce rank", NULL);
		return false;
	}
	if (!greeted && !secret_equal(greeting->secret, r->options->secret)) {
		turn_away(r, index, "wrong secret",
			  "wrong secret; set the same $RINGUP_SECRET for all ranks");
		return false;
	}
	if (!greeted && greeting->protocol == PROTOCOL)
		return reception_hear(r, index);
	admit(r, index);
	return false;
}

static void listen_to_all(struct reception *r, int64_t deadline)
{
	struct pollfd polls[STRANGERS_MAX + 1];
	int count = r->count;

	polls[count] = (struct pollfd){.fd = r->options->root_listener, .events = POLLIN};
	for (int i = 0; i < count; i++)
		polls[i] = (struct pollfd){.fd = r->strangers[i].fd, .events = POLLIN};
	poll(polls, (nfds_t)count + 1, clock_left_msec(deadline, 100));
	for (int i = count - 1; i >= 0; i--) {
		if (polls[i].revents && !reception_hear(r, i))
			continue;
		if (clock_usec() >= r->strangers[i].deadline_usec)
			turn_away(r, i, "it says nothing", NULL);
	}
	if (polls[count].revents)
		take_stranger(r);
}

static int missing_ranks(const struct reception *r, struct failure *err)
{
	char names[200] = "";
	size_t used = 0;
	int first = -1, missing = 0;

	for (int rank = 0; rank < r->group->world; rank++) {
		if (r->met[rank])
			continue;
		first = first < 0 ? rank : first;
		if (missing++ < 16 && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%d",
						 missing > 1 ? ", " : "", rank);
	}
	return failure_set(
		err, STATUS_TIMEOUT, first, "",
		"after %d s in phase join %d of %d ranks are missing: rank %s%s; were they started, and can they reach %s:%s?",
		(int)(r->group->timeout_usec / 1000000), missing, r->group->world, names,
		missing > 16 ? ", ..." : "", r->options->root_host, r->options->root_port);
}

static int gather_all(struct reception *r, struct failure *err)
{
	int64_t deadline = clock_usec() + r->group->timeout_usec;

	while (r->joined < r->group->world && clock_usec() < deadline)
		listen_to_all(r, deadline);
	return r->joined == r->group->world ? 0 : missing_ranks(r, err);
}

/* Do all ranks run the same program? */
static int check_versions(const struct reception *r, struct failure *err)
{
	const struct member *root = &r->intros[0].member;

	for (int rank = 1; rank < r->group->world; rank++) {
		const struct member *member = &r->intros[rank].member;

		if (strcmp(member->version, root->version) == 0)
			continue;
		return failure_set(
			err, STATUS_VERSION, rank, member->host,
			"versions differ: rank 0 (%s) runs %s, rank %d (%s) runs %s; deploy one image to all hosts",
			root->host, root->version, rank, member->host, member->version);
	}
	return 0;
}

/* Can all ranks use the backend, and is it the same one? */
static int check_backends(const struct reception *r, struct failure *err)
{
	for (int rank = 0; rank < r->group->world; rank++) {
		const struct introduction *intro = &r->intros[rank];

		if (strcmp(intro->backend, r->intros[0].backend) != 0)
			return failure_set(err, STATUS_USAGE, rank, intro->member.host,
					   "rank 0 uses --backend %s, rank %d (%s) uses %s",
					   r->intros[0].backend, rank, intro->member.host,
					   intro->backend);
		if (intro->unusable.status != STATUS_PASS)
			return failure_set(err, (enum status)intro->unusable.status, rank,
					   intro->member.host,
					   "--backend %s on rank %d (%s): %.256s", intro->backend,
					   rank, intro->member.host, intro->unusable.reason);
	}
	return 0;
}

static int welcome_all(struct reception *r, struct failure *err)
{
	struct group *group = r->group;
	size_t table_bytes = (size_t)group->world * sizeof(*group->members);
	struct welcome welcome = {.workload = group->workload};
	struct frame head = {.type = FRAME_WELCOME,
			     .bytes = (uint32_t)(sizeof(welcome) + table_bytes)};

	if (secret_random(group->run_id, sizeof(group->run_id), err) < 0)
		return -1;
	memcpy(welcome.run_id, group->run_id, sizeof(welcome.run_id));
	for (int rank = 0; rank < group->world; rank++)
		group->members[rank] = r->intros[rank].member;
	for (int rank = 1; rank < group->world; rank++) {
		int64_t deadline = clock_usec() + HELLO_USEC;
		int rc = net_send(r->fds[rank], &head, sizeof(head), deadline);

		if (rc == 0)
			rc = net_send(r->fds[rank], &welcome, sizeof(welcome), deadline);
		if (rc == 0)
			rc = net_send(r->fds[rank], group->members, table_bytes, deadline);
		if (rc < 0)
			return failure_set(err, STATUS_LOST, rank, group->members[rank].host,
					   "rank %d (%s) is gone in phase join: %s", rank,
					   group->members[rank].host, strerror(-rc));
	}
	return 0;
}

static bool is_everywhere(const struct member *member)
{
	return strcmp(member->address, "0.0.0.0") == 0 || strcmp(member->address, "::") == 0;
}

/* Rank 0 and ranks that came to it over loopback may listen on all addresses. The others find them
 * at the one that the first rank of another host came by. */
static void settle_addresses(struct reception *r)
{
	char address[ADDRESS_BYTES] = "127.0.0.1";
	struct endpoint local;

	for (int rank = 1; rank < r->group->world; rank++) {
		if (net_local(r->fds[rank], &local) == 0 && !net_is_loopback(&local)) {
			net_name(&local, address);
			break;
		}
	}
	for (int rank = 0; rank < r->group->world; rank++)
		if (is_everywhere(&r->intros[rank].member))
			memcpy(r->intros[rank].member.address, address, sizeof(address));
}

static int receive(struct reception *r, struct failure *err)
{
	fault_strike(&r->options->fault, PHASE_JOIN, 0);
	if (gather_all(r, err) < 0)
		return -1;
	err->phase = PHASE_VERSION;
	fault_strike(&r->options->fault, PHASE_VERSION, 0);
	if (check_versions(r, err) < 0 || check_backends(r, err) < 0)
		return -1;
	settle_addresses(r);
	err->phase = PHASE_JOIN;
	return welcome_all(r, err);
}

int reception_run(const struct options *options, struct hello *hello, struct group *group, int *fds,
		  struct failure *err)
{
	struct reception r = {.options = options, .group = group, .fds = fds, .joined = 1};
	struct endpoint own;
	int rc = -1;

	r.intros = calloc((size_t)group->world, sizeof(*r.intros));
	r.met = calloc((size_t)group->world, sizeof(*r.met));
	r.strangers = calloc(STRANGERS_MAX, sizeof(*r.strangers));
	if (!r.intros || !r.met || !r.strangers)
		abort();
	net_local(options->root_listener, &own);
	group->listener = rendezvous_data_socket(options, &own, &hello->intro.member, err);
	r.intros[0] = hello->intro;
	r.met[0] = true;
	if (group->listener >= 0)
		rc = receive(&r, err);
	close(options->root_listener);
	for (int i = 0; i < r.count; i++)
		close(r.strangers[i].fd);
	for (int rank = 1; rc < 0 && rank < group->world; rank++)
		if (fds[rank] >= 0)
			send_abort(fds[rank], err);
	free(r.intros);
	free(r.met);
	free(r.strangers);
	return rc;
}
