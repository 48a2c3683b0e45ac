/* SPDX-License-Identifier: MIT */
/* Both sides of the meeting: what is common, and the side of the ranks that connect. Rank 0's is in
 * reception.c. */
#include "rendezvous/rendezvous.h"
#include "clock.h"
#include "rendezvous/control.h"
#include "rendezvous/reception.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RETRY_USEC 20000
#define AWAIT_USEC 200000
#define ATTEMPT_USEC 5000000 /* of one attempt: a lost packet must not cost the whole timeout */

/* On Debian a machine's own name means 127.0.1.1, which other hosts cannot reach. A rank that has a
 * secret then listens on all addresses. */
static void open_up(const struct options *o, struct endpoint *root)
{
	bool meant = strncmp(o->root_host, "127.", 4) == 0 || strchr(o->root_host, ':') ||
		     strcmp(o->root_host, "localhost") == 0;

	if (o->secret[0] != 0 && !meant && net_is_loopback(root))
		net_resolve(root->addr.ss_family == AF_INET ? "0.0.0.0" : "::", o->root_port, root);
}

/* The name of a pod or of a service may become known after this program's start. */
static int resolve_root(const struct options *o, struct endpoint *root, int64_t deadline,
			struct failure *err)
{
	int rc = net_resolve(o->root_host, o->root_port, root);

	while (rc != 0 && o->root_awaited && clock_usec() < deadline) {
		usleep(AWAIT_USEC);
		rc = net_resolve(o->root_host, o->root_port, root);
	}
	if (rc != 0 && o->root_awaited)
		return failure_set(
			err, STATUS_TIMEOUT, 0, "",
			"rank %d (%s) cannot find rank 0: %s in phase join, after %d s: %s",
			o->rank, o->host, o->root_host, o->timeout_sec, gai_strerror(rc));
	if (rc != 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host, "--root %s:%s: %s",
				   o->root_host, o->root_port, gai_strerror(rc));
	if (o->secret[0] == 0 && !net_is_loopback(root))
		return failure_set(
			err, STATUS_USAGE, o->rank, o->host,
			"--root %s:%s is not on loopback: set the same $RINGUP_SECRET for all ranks, or name a file with it in $RINGUP_SECRET_FILE",
			o->root_host, o->root_port);
	return 0;
}

int rendezvous_listen(struct options *o, struct failure *err)
{
	int64_t deadline = clock_usec() + (int64_t)o->timeout_sec * 1000000;
	struct endpoint root;

	if (o->root_host[0] == '\0') {
		snprintf(o->root_host, sizeof(o->root_host), "127.0.0.1");
		snprintf(o->root_port, sizeof(o->root_port), "0");
	}
	if (resolve_root(o, &root, deadline, err) < 0)
		return -1;
	open_up(o, &root);
	o->root_listener = net_listen(&root);
	if (o->root_listener < 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host,
				   "rank 0 (%s) cannot listen on %s:%s: %s", o->host, o->root_host,
				   o->root_port, strerror(-o->root_listener));
	snprintf(o->root_port, sizeof(o->root_port), "%u", (unsigned)net_port(&root));
	return 0;
}

int rendezvous_data_socket(const struct options *o, const struct endpoint *fallback,
			   struct member *self, struct failure *err)
{
	struct endpoint data = *fallback;
	int fd;

	if (o->bind[0] != '\0' && net_resolve(o->bind, "0", &data) != 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host, "--bind %s: not an address",
				   o->bind);
	net_set_port(&data, 0);
	fd = net_listen(&data);
	if (fd < 0)
		return failure_set(err, STATUS_USAGE, o->rank, o->host,
				   "rank %d (%s) cannot listen on %s: %s", o->rank, o->host,
				   o->bind[0] ? o->bind : "its own address", strerror(-fd));
	net_name(&data, self->address);
	self->port = net_port(&data);
	return fd;
}

/* Rank 0 may start later than this rank, so a refusal counts only at the timeout. */
static int reach_root(const struct options *o, const struct endpoint *root, int64_t deadline,
		      struct failure *err)
{
	int fd = -ETIMEDOUT;

	while (clock_usec() < deadline) {
		int64_t attempt = clock_usec() + ATTEMPT_USEC;

		fd = net_connect(root, attempt < deadline ? attempt : deadline);
		if (fd >= 0)
			return fd;
		usleep(RETRY_USEC);
	}
	return failure_set(
		err, STATUS_TIMEOUT, 0, "",
		"rank %d (%s) cannot reach rank 0 at %s:%s within %d s in phase join: %s", o->rank,
		o->host, o->root_host, o->root_port, o->timeout_sec, strerror(-fd));
}

static int root_silent(const struct options *o, int rc, struct failure *err)
{
	bool late = rc == -ETIMEDOUT;

	return failure_set(err, late ? STATUS_TIMEOUT : STATUS_LOST, 0, "",
			   "rank 0 at %s:%s %s in phase join: %s", o->root_host, o->root_port,
			   late ? "does not answer" : "ended the connection", strerror(-rc));
}

static int read_welcome(const struct options *o, int fd, struct group *group, bool *alone,
			struct failure *err)
{
	int64_t deadline = clock_usec() + group->timeout_usec + NAMING_USEC;
	size_t table_bytes = (size_t)group->world * sizeof(*group->members);
	struct welcome welcome;
	struct frame head;
	int rc = net_recv(fd, &head, sizeof(head), deadline);

	if (rc < 0)
		return root_silent(o, rc, err);
	if (head.type == FRAME_ABORT && head.bytes == sizeof(*err)) {
		rc = net_recv(fd, err, sizeof(*err), deadline);
		if (rc < 0)
			return root_silent(o, rc, err);
		failure_tidy(err);
		*alone = err->status == STATUS_USAGE &&
			 err->phase == PHASE_JOIN; /* rank 0 turned this rank away */
		return -1;
	}
	if (head.type != FRAME_WELCOME || head.bytes != sizeof(welcome) + table_bytes)
		return root_silent(o, -EPROTO, err);
	rc = net_recv(fd, &welcome, sizeof(welcome), deadline);
	if (rc == 0)
		rc = net_recv(fd, group->members, table_bytes, deadline);
	if (rc < 0)
		return root_silent(o, rc, err);
	memcpy(group->run_id, welcome.run_id, sizeof(group->run_id));
	group->workload = welcome.workload;
	return 0;
}

static int join_root(const struct options *o, struct hello *hello, struct group *group, int *fd,
		     bool *alone, struct failure *err)
{
	int64_t deadline = clock_usec() + (int64_t)o->timeout_sec * 1000000;
	struct endpoint root, local;
	int rc;

	if (resolve_root(o, &root, deadline, err) < 0)
		return -1;
	*fd = reach_root(o, &root, deadline, err);
	if (*fd < 0)
		return -1;
	if (net_local(*fd, &local) < 0)
		return root_silent(o, -errno, err);
	open_up(o, &local);
	group->listener = rendezvous_data_socket(o, &local, &hello->intro.member, err);
	if (group->listener < 0)
		return -1;
	fault_strike(&o->fault, PHASE_JOIN, o->rank);
	rc = net_send(*fd, hello, sizeof(*hello), clock_usec() + HELLO_USEC);
	if (rc < 0)
		return root_silent(o, rc, err);
	fault_strike(&o->fault, PHASE_VERSION, o->rank);
	return read_welcome(o, *fd, group, alone, err);
}

int rendezvous_join(const struct options *o, const struct failure *unusable, struct group *group,
		    int **fds, bool *alone, struct failure *err)
{
	struct hello hello;
	int count = o->rank == 0 ? o->world : 1;

	memset(group, 0, sizeof(*group));
	group->rank = o->rank;
	group->world = o->world;
	group->listener = -1;
	group->timeout_usec = control_wait_usec(o->timeout_sec);
	group->workload = o->workload;
	group->members = calloc((size_t)o->world, sizeof(*group->members));
	*fds = calloc((size_t)count, sizeof(**fds));
	if (!group->members || !*fds)
		abort();
	for (int i = 0; i < count; i++)
		(*fds)[i] = -1;
	*alone = true;
	err->phase = PHASE_JOIN;
	hello_fill(&hello, o, unusable);
	if (o->rank == 0)
		return reception_run(o, &hello, group, *fds, err);
	return join_root(o, &hello, group, *fds, alone, err);
}

void group_release(struct group *group)
{
	if (group->listener >= 0)
		close(group->listener);
	free(group->members);
}
