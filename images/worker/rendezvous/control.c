/* SPDX-License-Identifier: MIT */
/* The control plane as the main thread calls it. */
#include "clock.h"
#include "rendezvous/control_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

void control_wake(struct control *c)
{
	uint64_t one = 1;

	if (write(c->wake_fd, &one, sizeof(one)) < 0)
		perror("eventfd");
}

int control_send(struct control *c, int index, enum frame_type type, const void *data, size_t bytes)
{
	struct frame head = {.type = type, .bytes = (uint32_t)bytes};
	int64_t deadline = clock_usec() + SEND_USEC;
	int rc, fd = c->peers[index].fd;

	if (fd < 0 || atomic_load(&c->peers[index].gone))
		return -ECONNRESET;
	pthread_mutex_lock(&c->sends);
	rc = net_send(fd, &head, sizeof(head), deadline);
	if (rc == 0)
		rc = net_send(fd, data, bytes, deadline);
	pthread_mutex_unlock(&c->sends);
	return rc;
}

struct control *control_start(const struct group *group, const int *fds,
			      void (*stuck)(void *arg, const struct failure *failure, bool alone),
			      void *arg, struct failure *err)
{
	int count = group->rank == 0 ? group->world : 1;
	struct control *c = calloc(1, sizeof(*c));
	struct peer *peers = calloc((size_t)count, sizeof(*peers));
	pthread_condattr_t attr;

	if (!c || !peers)
		abort();
	c->group = group;
	c->peers = peers;
	c->peer_count = count;
	c->stuck = stuck;
	c->stuck_arg = arg;
	atomic_store(&c->phase, PHASE_BOOTSTRAP);
	atomic_store(&c->awaits, -1);
	for (int i = 0; i < count; i++)
		peers[i].fd = fds[i];
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->sends, NULL);
	c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (c->wake_fd < 0 || pthread_create(&c->thread, NULL, control_thread, c) != 0) {
		failure_set(err, STATUS_USAGE, group->rank, "",
			    "cannot start the control thread: %s", strerror(errno));
		free(peers);
		free(c);
		return NULL;
	}
	return c;
}

/* A silent rank 0 is known of last: a wait and half a margin, then a margin for its answer. */
_Static_assert(NAMING_USEC == MARGIN_USEC / 2 + MARGIN_USEC, "as long as it takes");

int64_t control_wait_usec(int timeout_sec)
{
	int64_t usec = (int64_t)timeout_sec * 1000000;

	if (usec <= NAMING_USEC)
		return usec;
	return usec < 2 * (int64_t)NAMING_USEC ? NAMING_USEC : usec - NAMING_USEC;
}

static void set_deadline(struct control *c, int64_t now_usec)
{
	int64_t margin = c->group->rank == 0 ? 0 : MARGIN_USEC / 2;

	atomic_store_explicit(&c->step_deadline_usec,
			      now_usec + c->group->timeout_usec + c->spare_usec + margin,
			      memory_order_relaxed);
}

/* Waits, lock held, for news from the thread. Returns -1 at the deadline. */
static int wait_change(struct control *c, int64_t deadline_usec)
{
	struct timespec until = {.tv_sec = deadline_usec / 1000000,
				 .tv_nsec = deadline_usec % 1000000 * 1000};

	return pthread_cond_timedwait(&c->changed, &c->lock, &until) == ETIMEDOUT ? -1 : 0;
}

/* Waits, lock held, until peers[index] has a message of @bytes and moves it to @out. */
static int take_box(struct control *c, int index, void *out, size_t bytes, int64_t deadline_usec)
{
	struct peer *peer = &c->peers[index];

	while (!peer->full)
		if (atomic_load(&c->failed) || wait_change(c, deadline_usec) < 0)
			return -1;
	if (peer->box_bytes != bytes)
		return -1;
	if (bytes > 0)
		memcpy(out, peer->box, bytes);
	peer->full = false;
	return 0;
}

/* Names the ranks whose part is missing, as many as fit. */
static int missing_parts(struct control *c, struct failure *err)
{
	char names[256] = "";
	size_t used = 0;
	int first = -1, missing = 0;

	for (int i = 1; i < c->peer_count; i++) {
		if (c->peers[i].full)
			continue;
		first = first < 0 ? i : first;
		if (missing++ < 8 && used < sizeof(names))
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%d (%s)",
						 missing > 1 ? ", " : "", i,
						 c->group->members[i].host);
	}
	return failure_set(err, STATUS_TIMEOUT, first,
			   first < 0 ? "" : c->group->members[first].host,
			   "after %d s in phase %s still waiting for %d of %d ranks: rank %s",
			   (int)(c->group->timeout_usec / 1000000), phase_name(err->phase), missing,
			   c->group->world, names);
}

/* All ranks come by here equally often. */
static void next_stage(struct control *c)
{
	uint64_t stage = atomic_load(&c->step) / STAGE_STEPS + 1;

	atomic_store(&c->step, stage * STAGE_STEPS);
	if (atomic_load(&c->step_deadline_usec) > 0)
		set_deadline(c, clock_usec());
}

int control_gather(struct control *c, const void *part, size_t bytes, void *all,
		   struct failure *err)
{
	int64_t deadline = clock_usec() + c->group->timeout_usec;
	int rc = 0;

	next_stage(c);
	err->phase = atomic_load(&c->phase);
	if (c->group->rank != 0) {
		if (control_send(c, 0, FRAME_PART, part, bytes) == 0)
			return 0;
		return failure_set(err, STATUS_LOST, 0, c->group->members[0].host,
				   "cannot send to rank 0 (%s)", c->group->members[0].host);
	}
	if (bytes > 0)
		memcpy(all, part, bytes);
	pthread_mutex_lock(&c->lock);
	for (int i = 1; i < c->peer_count && rc == 0; i++) {
		control_awaits(c, i, 0);
		rc = take_box(c, i, (char *)all + (size_t)i * bytes, bytes, deadline);
	}
	if (rc == 0)
		control_awaits(c, -1, 0);
	else
		missing_parts(c, err);
	pthread_mutex_unlock(&c->lock);
	return rc;
}

int control_share(struct control *c, void *data, size_t bytes, struct failure *err)
{
	int64_t deadline = clock_usec() + c->group->timeout_usec + MARGIN_USEC / 2;
	int rc;

	err->phase = atomic_load(&c->phase);
	if (c->group->rank == 0) {
		for (int i = 1; i < c->peer_count; i++)
			control_send(c, i, FRAME_SHARE, data, bytes);
		return 0;
	}
	control_awaits(c, 0, 0);
	pthread_mutex_lock(&c->lock);
	rc = take_box(c, 0, data, bytes, deadline);
	pthread_mutex_unlock(&c->lock);
	if (rc == 0)
		control_awaits(c, -1, 0);
	else
		failure_set(err, STATUS_TIMEOUT, 0, c->group->members[0].host,
			    "rank 0 (%s) does not answer in phase %s", c->group->members[0].host,
			    phase_name(err->phase));
	return rc;
}

int control_barrier(struct control *c, struct failure *err)
{
	if (control_gather(c, NULL, 0, NULL, err) < 0)
		return -1;
	return control_share(c, NULL, 0, err);
}

void control_phase(struct control *c, enum phase phase)
{
	atomic_store(&c->phase, phase);
}

void control_begin(struct control *c, int64_t now_usec)
{
	uint64_t step =
		atomic_load_explicit(&c->step, memory_order_relaxed) + 1; /* only we write it */

	atomic_store_explicit(&c->step, step, memory_order_relaxed);
	set_deadline(c, now_usec);
}

void control_spare(struct control *c, int64_t usec)
{
	c->spare_usec = usec;
}

void control_end(struct control *c)
{
	atomic_store_explicit(&c->step_deadline_usec, 0, memory_order_relaxed);
}

void control_awaits(struct control *c, int rank, uint64_t done)
{
	atomic_store_explicit(&c->done, done, memory_order_relaxed);
	atomic_store_explicit(&c->awaits, rank, memory_order_relaxed);
}

bool control_failed(const struct control *c)
{
	return atomic_load_explicit(&c->failed, memory_order_acquire);
}

/* Rank 0 has not answered a report within MARGIN_USEC. The others give up on it too and end their data
 * connections, so a rank that looks lost may only be the first one that has done so. */
static void blame_silent_root(const struct control *c, struct failure *err)
{
	const char *host = c->group->members[0].host;
	struct failure seen = *err;

	if (seen.status == STATUS_LOST)
		failure_set(err, STATUS_TIMEOUT, 0, host, "rank 0 (%s) does not answer; %.300s",
			    host, seen.reason);
}

bool control_raise(struct control *c, struct failure *err)
{
	int64_t deadline = clock_usec() + MARGIN_USEC;
	bool alone;

	control_end(c);
	err->phase = atomic_load(&c->phase);
	pthread_mutex_lock(&c->lock);
	if (!atomic_load(&c->failed) && c->group->rank == 0) {
		control_report(c, err, 0);
		control_wake(c);
	} else if (!atomic_load(&c->failed)) {
		pthread_mutex_unlock(&c->lock);
		control_send(c, 0, FRAME_FAIL, err, sizeof(*err));
		pthread_mutex_lock(&c->lock);
	}
	while (!atomic_load(&c->failed) && wait_change(c, deadline) == 0)
		;
	c->acknowledged = true;
	if (!atomic_load(
		    &c->failed)) { /* no answer: this rank's own failure is all that is known */
		blame_silent_root(c, err);
		c->failure = *err;
		c->alone = true;
		atomic_store(&c->failed, true);
	}
	*err = c->failure;
	alone = c->alone;
	pthread_mutex_unlock(&c->lock);
	return alone;
}

int control_finish(struct control *c, struct failure *err)
{
	pthread_mutex_lock(&c->lock);
	c->finishing = true;
	pthread_mutex_unlock(&c->lock);
	if (control_gather(c, NULL, 0, NULL, err) < 0)
		return -1;
	if (c->group->rank == 0) {
		pthread_mutex_lock(&c->lock);
		c->closing = true;
		pthread_mutex_unlock(&c->lock);
	}
	return control_share(c, NULL, 0, err);
}

void control_leave(struct control *c)
{
	int64_t usec = c->group->timeout_usec;

	pthread_mutex_lock(&c->lock);
	if (atomic_load(&c->failed) && usec > LEAVE_USEC)
		usec = LEAVE_USEC;
	c->leave_usec = clock_usec() + usec;
	pthread_mutex_unlock(&c->lock);
	control_wake(c);
}

void control_stop(struct control *c)
{
	int *fds = calloc((size_t)c->peer_count, sizeof(*fds));
	int64_t most_usec = CLOSE_USEC;

	if (!fds)
		abort();
	pthread_mutex_lock(&c->lock);
	c->closing = true;
	c->stopping = true;
	if (c->group->rank != 0) /* rank 0 goes first: launchers end all when one has failed */
		most_usec = c->alone ? 0 : 2 * STUCK_USEC;
	pthread_mutex_unlock(&c->lock);
	control_wake(c);
	pthread_join(c->thread, NULL);
	for (int i = 0; i < c->peer_count; i++)
		fds[i] = c->peers[i].fd;
	net_close_all(fds, c->peer_count, most_usec);
	free(fds);
	for (int i = 0; i < c->peer_count; i++) {
		free(c->peers[i].body);
		free(c->peers[i].box);
	}
	close(c->wake_fd);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->sends);
	pthread_cond_destroy(&c->changed);
	free(c->peers);
	free(c);
}
