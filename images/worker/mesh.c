/* SPDX-License-Identifier: MIT */
#include "mesh.h"
#include "clock.h"
#include "control.h"
#include "links.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SPINS 50 /* system calls that find nothing, before the first poll() */

void mesh_init(struct mesh *mesh, const struct group *group)
{
	mesh->group = group;
	mesh->fds = malloc((size_t)group->world * sizeof(*mesh->fds));
	if (!mesh->fds)
		abort();
	for (int rank = 0; rank < group->world; rank++)
		mesh->fds[rank] = -1;
}

static bool take(void *arg, int rank, int purpose, int fd)
{
	struct mesh *mesh = arg;

	if (purpose != LINK_MESH || mesh->fds[rank] >= 0 || rank <= mesh->group->rank)
		return false;
	mesh->fds[rank] = fd;
	return true;
}

static bool complete(const void *arg)
{
	const struct mesh *mesh = arg;

	return mesh->fds[mesh->wanted] >= 0;
}

static int open_link(struct mesh *mesh, int peer, struct failure *err)
{
	const struct group *group = mesh->group;
	const struct link_taker taker = {.take = take, .done = complete, .arg = mesh};
	int64_t deadline = clock_usec() + group->timeout_usec;

	if (mesh->fds[peer] >= 0)
		return 0;
	if (peer < group->rank) {
		mesh->fds[peer] = link_connect(group, peer, LINK_MESH, deadline, err);
		return mesh->fds[peer] >= 0 ? 0 : -1;
	}
	mesh->wanted = peer;
	if (link_accept(group, &taker, deadline) == 0)
		return 0;
	return failure_set(err, STATUS_TIMEOUT, peer, group->members[peer].host,
			   "rank %d (%s) did not connect to rank %d (%s); check --bind and "
			   "firewalls",
			   peer, group->members[peer].host, group->rank,
			   group->members[group->rank].host);
}

static int lost(const struct mesh *mesh, int peer, ssize_t error, struct failure *err)
{
	const char *host = mesh->group->members[peer].host;

	return failure_set(err, STATUS_LOST, peer, host,
			   "rank %d (%s) is gone: its data connection to rank %d ended (%s)", peer,
			   host, mesh->group->rank, strerror((int)-error));
}

int mesh_exchange(struct mesh *mesh, int peer, const void *out, void *in, size_t bytes,
		  struct failure *err)
{
	size_t sent = 0, received = 0;
	int idle = 0, fd;

	if (open_link(mesh, peer, err) < 0)
		return -1;
	fd = mesh->fds[peer];
	while (sent < bytes || received < bytes) {
		ssize_t out_now = 0, in_now = 0;
		struct pollfd ready = {.fd = fd};

		if (sent < bytes)
			out_now = net_send_some(fd, (const char *)out + sent, bytes - sent);
		if (received < bytes)
			in_now = net_recv_some(fd, (char *)in + received, bytes - received);
		if (out_now < 0 || in_now < 0)
			return lost(mesh, peer, out_now < 0 ? out_now : in_now, err);
		sent += (size_t)out_now;
		received += (size_t)in_now;
		ready.events =
			(short)((sent < bytes ? POLLOUT : 0) | (received < bytes ? POLLIN : 0));
		if (out_now > 0 || in_now > 0 || idle++ < SPINS)
			continue;
		control_awaits(mesh->group->control, peer);
		poll(&ready, 1, LINK_POLL_MSEC);
		control_awaits(mesh->group->control, -1);
		if (control_failed(mesh->group->control))
			return -1;
	}
	return 0;
}

void mesh_release(struct mesh *mesh)
{
	for (int rank = 0; mesh->fds && rank < mesh->group->world; rank++)
		if (mesh->fds[rank] >= 0)
			close(mesh->fds[rank]);
	free(mesh->fds);
	mesh->fds = NULL;
}
