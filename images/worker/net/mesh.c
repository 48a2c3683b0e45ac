/* SPDX-License-Identifier: MIT */
#include "net/mesh.h"
#include "clock.h"
#include "net/links.h"
#include "rendezvous/control.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPINS 50 /* system calls that find nothing, before the first poll() */

void mesh_init(struct mesh *mesh, const struct group *group)
{
	mesh->group = group;
	mesh->needed = NULL;
	mesh->fds = malloc((size_t)group->world * sizeof(*mesh->fds));
	if (!mesh->fds)
		abort();
	for (int rank = 0; rank < group->world; rank++)
		mesh->fds[rank] = -1;
}

static bool mesh_take(void *arg, int rank, int purpose, int fd)
{
	struct mesh *mesh = arg;

	if (purpose != LINK_MESH || mesh->fds[rank] >= 0 || rank <= mesh->group->rank)
		return false;
	mesh->fds[rank] = fd;
	return true;
}

static int mesh_missing(const void *arg)
{
	const struct mesh *mesh = arg;

	if (mesh->wanted < WORLD_MAX)
		return mesh->fds[mesh->wanted] >= 0 ? -1 : mesh->wanted;
	for (int rank = mesh->group->rank + 1; rank < mesh->group->world; rank++)
		if (mesh->fds[rank] < 0 && (!mesh->needed || mesh->needed[rank]))
			return rank;
	return -1;
}

static int mesh_late(const void *arg, struct failure *err)
{
	const struct mesh *mesh = arg;
	const struct group *group = mesh->group;
	int peer = mesh_missing(mesh);

	return failure_set(
		err, STATUS_TIMEOUT, peer, group->members[peer].host,
		"rank %d (%s) did not connect to rank %d (%s); check --bind and firewalls", peer,
		group->members[peer].host, group->rank, group->members[group->rank].host);
}

/* Makes the calls, and takes calls until that of `wanted` has come, or all. */
static int mesh_link_up(struct mesh *mesh, struct link_call *calls, int count, struct failure *err)
{
	const struct link_taker taker = {
		.take = mesh_take, .missing = mesh_missing, .late = mesh_late, .arg = mesh};
	int64_t deadline = clock_usec() + mesh->group->timeout_usec;

	return link_meet(mesh->group, calls, count, &taker, deadline, err);
}

int mesh_link(struct mesh *mesh, int peer, struct failure *err)
{
	const struct group *group = mesh->group;

	if (mesh->fds[peer] >= 0)
		return mesh->fds[peer];
	if (peer < group->rank) {
		mesh->fds[peer] = link_connect(group, peer, LINK_MESH,
					       clock_usec() + group->timeout_usec, err);
		return mesh->fds[peer];
	}
	mesh->wanted = peer;
	return mesh_link_up(mesh, NULL, 0, err) == 0 ? mesh->fds[peer] : -1;
}

int mesh_link_all(struct mesh *mesh, struct failure *err)
{
	mesh->wanted = WORLD_MAX;
	return mesh_link_up(mesh, NULL, 0, err);
}

int mesh_link_set(struct mesh *mesh, const bool *needed, struct failure *err)
{
	struct link_call *calls = calloc((size_t)mesh->group->rank + 1, sizeof(*calls));
	int count = 0, rc;

	if (!calls)
		abort();
	for (int rank = 0; rank < mesh->group->rank; rank++)
		if (needed[rank] && mesh->fds[rank] < 0)
			calls[count++] = (struct link_call){.rank = rank, .purpose = LINK_MESH};
	mesh->wanted = WORLD_MAX;
	mesh->needed = needed;
	rc = mesh_link_up(mesh, calls, count, err);
	mesh->needed = NULL;
	for (int i = 0; i < count && rc == 0; i++)
		mesh->fds[calls[i].rank] = calls[i].fd;
	free(calls);
	return rc;
}

int mesh_lost(const struct mesh *mesh, int peer, ssize_t error, struct failure *err)
{
	const char *host = mesh->group->members[peer].host;

	return failure_set(err, STATUS_LOST, peer, host,
			   "rank %d (%s) is gone: its data connection to rank %d ended (%s)", peer,
			   host, mesh->group->rank, strerror((int)-error));
}

/* Waits a little for @peer, until @out_fd can send or @in_fd has something (-1: neither), @done
 * bytes having come. -1 if the run has failed. */
static int wait_a_little(const struct mesh *mesh, int peer, int out_fd, int in_fd, size_t done)
{
	struct pollfd ready[2] = {{.fd = out_fd, .events = POLLOUT},
				  {.fd = in_fd, .events = POLLIN}};

	control_awaits(mesh->group->control, peer, done);
	if (poll(ready, 2, LINK_POLL_MSEC) > 0)
		control_awaits(mesh->group->control, -1, 0);
	return control_failed(mesh->group->control) ? -1 : 0;
}

int mesh_move(struct mesh *mesh, int peer, bool sending, void *data, size_t bytes,
	      struct failure *err)
{
	int fd = mesh_link(mesh, peer, err);
	size_t done = 0;

	if (fd < 0)
		return -1;
	while (done < bytes) {
		char *next = (char *)data + done;
		ssize_t now = sending ? net_send_some(fd, next, bytes - done)
				      : net_recv_some(fd, next, bytes - done);

		if (now < 0)
			return mesh_lost(mesh, peer, now, err);
		done += (size_t)now;
		if (now == 0 &&
		    wait_a_little(mesh, peer, sending ? fd : -1, sending ? -1 : fd, done) < 0)
			return -1;
	}
	return 0;
}

int mesh_shift(struct mesh *mesh, int to, const void *out, int from, void *in, size_t bytes,
	       struct failure *err)
{
	size_t sent = to < 0 ? bytes : 0, received = from < 0 ? bytes : 0;
	int idle = 0, out_fd = to < 0 ? -1 : mesh->fds[to], in_fd = from < 0 ? -1 : mesh->fds[from];

	while (sent < bytes || received < bytes) {
		ssize_t out_now = 0, in_now = 0;

		if (sent < bytes)
			out_now = net_send_some(out_fd, (const char *)out + sent, bytes - sent);
		if (received < bytes)
			in_now = net_recv_some(in_fd, (char *)in + received, bytes - received);
		if (out_now < 0 || in_now < 0)
			return mesh_lost(mesh, out_now < 0 ? to : from,
					 out_now < 0 ? out_now : in_now, err);
		sent += (size_t)out_now;
		received += (size_t)in_now;
		if (out_now > 0 || in_now > 0 || idle++ < SPINS)
			continue;
		if (wait_a_little(mesh, received < bytes ? from : to, sent < bytes ? out_fd : -1,
				  received < bytes ? in_fd : -1, received) < 0)
			return -1;
	}
	return 0;
}

int mesh_exchange(struct mesh *mesh, int peer, const void *out, void *in, size_t bytes,
		  struct failure *err)
{
	if (mesh_link(mesh, peer, err) < 0)
		return -1;
	return mesh_shift(mesh, peer, out, peer, in, bytes, err);
}

void mesh_release(struct mesh *mesh)
{
	for (int rank = 0; mesh->fds && rank < mesh->group->world; rank++)
		if (mesh->fds[rank] >= 0)
			close(mesh->fds[rank]);
	free(mesh->fds);
	mesh->fds = NULL;
}
