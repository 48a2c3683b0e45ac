/* SPDX-License-Identifier: MIT */
/*
 * The control thread: reads messages, watches deadlines, decides (on rank 0) what the failure is.
 */
#include "clock.h"
#include "rendezvous/control_state.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TICK_MSEC 500 /* how often deadlines are looked at when nothing else happens */

static bool is_root(const struct control *c)
{
	return c->group->rank == 0;
}

/* The rank at the far end of peers[index]. */
static int peer_rank(const struct control *c, int index)
{
	return is_root(c) ? index : 0;
}

static void control_thread_broadcast(struct control *c, enum frame_type type, const void *data,
				     size_t bytes)
{
	for (int i = 1; i < c->peer_count; i++)
		control_send(c, i, type, data, bytes);
}

static void control_thread_decide(struct control *c, const struct failure *failure)
{
	if (atomic_load(&c->failed))
		return;
	c->failure = *failure;
	c->failed_usec = clock_usec();
	atomic_store(&c->failed, true);
	if (is_root(c))
		control_thread_broadcast(c, FRAME_ABORT, failure, sizeof(*failure));
	pthread_cond_broadcast(&c->changed);
}

static void begin_probe(struct control *c)
{
	for (int i = 1; i < c->peer_count; i++)
		c->peers[i].answered = false;
	control_thread_broadcast(c, FRAME_PING, NULL, 0);
	c->probing = true;
	c->settle_usec = clock_usec() + PROBE_USEC;
}

/* NCCL tells a rank of a failure that may be another one's: only what that one says, or that it says nothing, shows
 * whose. */
static bool is_only_seen(const struct failure *report)
{
	return report->rank < 0 && (report->status == STATUS_LOST || report->status == STATUS_GPU);
}

void control_report(struct control *c, const struct failure *report, int from)
{
	bool hang = report->status == STATUS_TIMEOUT && report->phase >= PHASE_BOOTSTRAP;
	bool seen = is_only_seen(report);

	if (atomic_load(&c->failed) || c->closing)
		return;
	/*
	 * a suspect's own words explain more than what others saw of it, but not that it waits, too
	 */
	if (!is_root(c) || (c->suspected && c->suspicion.rank == from && !hang)) {
		control_thread_decide(c, report);
		return;
	}
	if (c->suspected && !(is_only_seen(&c->suspicion) && !seen && !hang))
		return;
	if (!hang && !seen && report->status != STATUS_LOST) {
		control_thread_decide(c, report);
		return;
	}
	c->suspected = true;
	c->suspicion = *report;
	c->settle_usec = clock_usec() + SETTLE_USEC;
	c->earliest_usec = seen ? c->settle_usec : 0;
	c->probing = false;
	if (hang || seen)
		begin_probe(c);
}

static struct progress own_progress(const struct control *c)
{
	return (struct progress){.step = atomic_load(&c->step),
				 .done = atomic_load(&c->done),
				 .phase = atomic_load(&c->phase),
				 .awaits = atomic_load(&c->awaits)};
}

static struct progress progress_of(const struct control *c, int rank)
{
	return rank == 0 ? own_progress(c) : c->peers[rank].progress;
}

/* What a waiting rank has received so far counts, too. */
static bool is_behind(const struct progress *a, const struct progress *b)
{
	if (a->phase != b->phase)
		return a->phase < b->phase;
	if (a->step != b->step)
		return a->step < b->step;
	return a->awaits >= 0 && b->awaits >= 0 && a->done < b->done;
}

static bool is_awaited(const struct control *c, int rank)
{
	for (int other = 0; other < c->group->world; other++)
		if (progress_of(c, other).awaits == rank)
			return true;
	return false;
}

static bool is_behind_any(const struct control *c, int rank)
{
	struct progress own = progress_of(c, rank);

	for (int other = 0; other < c->group->world; other++) {
		struct progress progress = progress_of(c, other);

		if (is_behind(&own, &progress))
			return true;
	}
	return false;
}

/* The rank furthest behind among those that wait for another one, or that do not (@idle); -1: none. */
static int find_last(const struct control *c, bool idle)
{
	struct progress least = {.phase = PHASE_COUNT};
	int last = -1;

	for (int rank = 0; rank < c->group->world; rank++) {
		struct progress progress = progress_of(c, rank);

		if ((progress.awaits < 0) != idle || !is_behind(&progress, &least) ||
		    !(is_behind_any(c, rank) || (idle && is_awaited(c, rank))))
			continue;
		least = progress;
		last = rank;
	}
	return last;
}

/* All wait: one of two that wait for each other, else the rank that has received least; -1: unknown. */
static int find_starving(const struct control *c)
{
	for (int rank = 0; rank < c->group->world; rank++) {
		int other = progress_of(c, rank).awaits;

		if (other >= 0 && progress_of(c, other).awaits == rank)
			return rank;
	}
	return find_last(c, false);
}

/* All ranks have answered: one that waits for nobody and does not go on holds up the others; where
 * all wait, nothing comes over some link. Without evidence the report stands. */
static void blame_by_progress(const struct control *c, struct failure *f)
{
	const struct member *members = c->group->members;
	int seconds = (int)(c->group->timeout_usec / 1000000), from;
	int last = find_last(c, true);

	if (last >= 0) {
		failure_set(f, STATUS_TIMEOUT, last, members[last].host,
			    "no progress for %d s in phase %s: rank %d (%s) is behind the others",
			    seconds, phase_name(f->phase), last, members[last].host);
		return;
	}
	last = find_starving(c);
	if (last < 0)
		return;
	from = progress_of(c, last).awaits;
	failure_set(
		f, STATUS_TIMEOUT, from, members[from].host,
		"no progress for %d s in phase %s: nothing comes from rank %d (%s) to rank %d (%s), though both answer; check the link between them, firewalls and MTU",
		seconds, phase_name(f->phase), from, members[from].host, last, members[last].host);
}

/* What others have seen of it stays in the sentence. */
static void blame_silent(struct failure *f, int rank, const char *host, const char *more)
{
	struct failure seen = *f;

	failure_set(f, STATUS_LOST, rank, host, "rank %d (%s) does not answer%s; %.300s", rank,
		    host, more, seen.reason);
}

static void blame_own_network(struct control *c, int ranks)
{
	const struct member *own = &c->group->members[0];

	failure_set(
		&c->suspicion, STATUS_TIMEOUT, 0, own->host,
		"no progress for %d s in phase %s: none of the %d ranks of other hosts answers rank 0 (%s): its own network is the likely reason",
		(int)(c->group->timeout_usec / 1000000), phase_name(c->suspicion.phase), ranks,
		own->host);
}

/* Whether rank 0 hears nothing from other machines, of which there are several: then it is not they who are to blame. */
static bool control_thread_is_cut_off(const struct control *c, int *ranks)
{
	const struct member *members = c->group->members;
	const char *other = NULL;
	bool several = false;

	*ranks = 0;
	for (int i = 1; i < c->peer_count; i++) {
		if (strcmp(members[i].kernel, members[0].kernel) == 0 &&
		    strcmp(members[i].address, members[0].address) == 0)
			continue;
		if (c->peers[i].answered)
			return false;
		several |= other && strcmp(other, members[i].address) != 0;
		other = members[i].address;
		++*ranks;
	}
	return several;
}

/* After a probe: the ranks that did not answer, else what all of them say. */
static void control_thread_blame(struct control *c)
{
	const struct member *members = c->group->members;
	int first = 0, silent = 0;
	char more[32] = "";

	for (int i = 1; i < c->peer_count; i++)
		if (!c->peers[i].answered)
			first = silent++ == 0 ? i : first;
	if (silent > 1)
		snprintf(more, sizeof(more), ", nor do %d more", silent - 1);
	if (silent > 1 && control_thread_is_cut_off(c, &silent)) {
		blame_own_network(c, silent);
		return;
	}
	if (is_only_seen(&c->suspicion)) {
		if (silent > 0)
			blame_silent(&c->suspicion, first, members[first].host, more);
		return;
	}
	if (silent == 0) {
		blame_by_progress(c, &c->suspicion);
		return;
	}
	failure_set(&c->suspicion, STATUS_TIMEOUT, first, members[first].host,
		    "no progress for %d s in phase %s: rank %d (%s) does not answer%s",
		    (int)(c->group->timeout_usec / 1000000), phase_name(c->suspicion.phase), first,
		    members[first].host, more);
}

static bool all_answered(const struct control *c)
{
	for (int i = 1; i < c->peer_count; i++)
		if (!atomic_load(&c->peers[i].gone) && !c->peers[i].answered)
			return false;
	return true;
}

static void control_thread_settle(struct control *c)
{
	int64_t now = clock_usec();

	if (!c->suspected || atomic_load(&c->failed))
		return;
	if (now < c->settle_usec && !(c->probing && now >= c->earliest_usec && all_answered(c)))
		return;
	if (c->probing)
		control_thread_blame(c);
	control_thread_decide(c, &c->suspicion);
}

static void peer_gone(struct control *c, int index)
{
	int rank = peer_rank(c, index);
	const struct member *member = &c->group->members[rank];
	struct failure failure = {.phase = atomic_load(&c->phase)};

	atomic_store(&c->peers[index].gone, true);
	if (c->closing || atomic_load(&c->failed))
		return;
	failure_set(
		&failure, STATUS_LOST, rank, member->host,
		"rank %d (%s, pid %u) is gone: its connection ended in phase %s; see its own output on that host",
		rank, member->host, (unsigned)member->pid, phase_name(failure.phase));
	if (!is_root(c))
		c->alone = true;
	control_thread_decide(c, &failure);
}

static void take_failure(struct control *c, struct peer *peer, int index)
{
	struct failure failure;

	memcpy(&failure, peer->body, sizeof(failure));
	failure_tidy(&failure);
	if (peer->head.type == FRAME_ABORT)
		control_thread_decide(c, &failure);
	else
		control_report(c, &failure, peer_rank(c, index));
}

/* Whether the far end may send such a message: there is one of a fixed size for each answer and
 * question, and a bounded one for data. */
static bool is_frame(const struct control *c, const struct frame *head)
{
	switch (head->type) {
	case FRAME_PART:
		return is_root(c) && head->bytes <= FRAME_BYTES_MAX;
	case FRAME_SHARE:
		return !is_root(c) && head->bytes <= FRAME_BYTES_MAX;
	case FRAME_FAIL:
		return is_root(c) && head->bytes == sizeof(struct failure);
	case FRAME_ABORT:
		return !is_root(c) && head->bytes == sizeof(struct failure);
	case FRAME_PING:
		return !is_root(c) && head->bytes == 0;
	case FRAME_PONG:
		return is_root(c) && head->bytes == sizeof(struct progress);
	default:
		return false;
	}
}

static bool is_progress(const struct control *c, const struct progress *progress)
{
	return progress->phase >= 0 && progress->phase < PHASE_COUNT && progress->awaits >= -1 &&
	       progress->awaits < c->group->world;
}

/* Handles the complete message of peers[index]. Returns false if it makes no sense: then the
 * connection ends. */
static bool take_frame(struct control *c, int index)
{
	struct peer *peer = &c->peers[index];
	struct progress progress = own_progress(c);

	switch (peer->head.type) {
	case FRAME_PART:
	case FRAME_SHARE:
		if (peer->full)
			return false;
		free(peer->box);
		peer->box = peer->body;
		peer->box_bytes = peer->head.bytes;
		peer->body = NULL;
		peer->full = true;
		/* rank 0 may now leave, before this rank's main thread has read its last word */
		if (!is_root(c) && c->finishing)
			c->closing = true;
		pthread_cond_broadcast(&c->changed);
		return true;
	case FRAME_FAIL:
	case FRAME_ABORT:
		take_failure(c, peer, index);
		return true;
	case FRAME_PING:
		return control_send(c, index, FRAME_PONG, &progress, sizeof(progress)) == 0;
	case FRAME_PONG:
		memcpy(&progress, peer->body, sizeof(progress));
		if (!is_progress(c, &progress))
			return false;
		peer->progress = progress;
		peer->answered = true;
		return true;
	default:
		return false;
	}
}

/* Reads on; returns -errno if the connection is of no more use, 0 if nothing more is there, 1 to be
 * called again. */
static int control_thread_read_some(struct control *c, int index)
{
	struct peer *peer = &c->peers[index];
	size_t head_bytes = sizeof(peer->head), end;
	ssize_t got;

	if (peer->have < head_bytes)
		got = net_recv_some(peer->fd, (char *)&peer->head + peer->have,
				    head_bytes - peer->have);
	else
		got = net_recv_some(peer->fd, peer->body + (peer->have - head_bytes),
				    peer->head.bytes - (peer->have - head_bytes));
	if (got <= 0 && peer->have < head_bytes)
		return (int)got;
	if (got < 0)
		return (int)got;
	peer->have += (size_t)got;
	if (peer->have < head_bytes)
		return 1;
	if (peer->have == head_bytes && !peer->body) {
		if (!is_frame(c, &peer->head))
			return -EPROTO;
		peer->body = malloc(peer->head.bytes + 1);
		if (!peer->body)
			return -ENOMEM;
	}
	end = head_bytes + peer->head.bytes;
	if (peer->have < end)
		return got > 0;
	if (!take_frame(c, index))
		return -EPROTO;
	free(peer->body);
	peer->body = NULL;
	peer->have = 0;
	return 1;
}

static void read_peer(struct control *c, int index)
{
	int rc;

	do {
		rc = control_thread_read_some(c, index);
	} while (rc > 0);
	if (rc < 0)
		peer_gone(c, index);
}

static void step_failure(const struct control *c, struct failure *failure)
{
	int awaits = atomic_load(&c->awaits), seconds = (int)(c->group->timeout_usec / 1000000);
	const struct member *members = c->group->members;

	failure->phase = atomic_load(&c->phase);
	if (awaits >= 0)
		failure_set(failure, STATUS_TIMEOUT, awaits, members[awaits].host,
			    "no progress for %d s in phase %s: rank %d waits for rank %d (%s)",
			    seconds, phase_name(failure->phase), c->group->rank, awaits,
			    members[awaits].host);
	else
		failure_set(
			failure, STATUS_TIMEOUT, -1, "",
			"no progress for %d s in phase %s: rank %d (%s) waits, and no rank is behind the others",
			seconds, phase_name(failure->phase), c->group->rank,
			members[c->group->rank].host);
}

/* Another rank than 0 asks rank 0, and if that does not answer, gives up by itself. */
static void ask_root(struct control *c, struct failure *failure)
{
	const struct member *root = &c->group->members[0];

	if (c->patience_usec == 0) {
		c->patience_usec = clock_usec() + MARGIN_USEC;
		control_send(c, 0, FRAME_FAIL, failure, sizeof(*failure));
		return;
	}
	if (clock_usec() < c->patience_usec)
		return;
	failure_set(failure, STATUS_TIMEOUT, 0, root->host,
		    "no progress for %d s in phase %s: rank 0 (%s) does not answer",
		    (int)(c->group->timeout_usec / 1000000), phase_name(failure->phase),
		    root->host);
	c->alone = true;
	control_thread_decide(c, failure);
}

/* Raises a timeout for a step that takes too long. Rank 0 is the first to do so. */
static void watch_step(struct control *c)
{
	int64_t deadline = atomic_load(&c->step_deadline_usec);
	struct failure failure;

	if (atomic_load(&c->failed) || c->suspected)
		return;
	if (deadline == 0 || clock_usec() < deadline) {
		c->patience_usec = 0;
		return;
	}
	step_failure(c, &failure);
	if (is_root(c))
		control_report(c, &failure, 0);
	else
		ask_root(c, &failure);
}

/* Rank 0 goes first: launchers end all ranks when one has failed, and it has to tell the story. */
static void watch_main(struct control *c)
{
	bool after_root = !is_root(c) && !c->alone && !atomic_load(&c->peers[0].gone);

	if (!atomic_load(&c->failed) || c->acknowledged ||
	    clock_usec() < c->failed_usec + (after_root ? 2 : 1) * STUCK_USEC)
		return;
	c->stuck(c->stuck_arg, &c->failure, c->alone);
}

/* The main thread gives its devices back, and a library may hang in that. */
static void watch_leave(struct control *c)
{
	if (c->leave_usec > 0 && !c->stopping && clock_usec() >= c->leave_usec)
		c->stuck(c->stuck_arg, &c->failure, c->alone);
}

/* Until something is due, but no longer than a tick: the main thread sets its deadline when it
 * likes.
 */
static int next_msec(const struct control *c)
{
	int64_t due = atomic_load(&c->step_deadline_usec);

	if (c->leave_usec > 0)
		return clock_left_msec(c->leave_usec, TICK_MSEC);
	if (c->suspected && c->earliest_usec > clock_usec())
		due = c->earliest_usec;
	else if (c->suspected)
		due = c->settle_usec;
	else if (c->patience_usec > 0)
		due = c->patience_usec;
	if (due == 0 || atomic_load(&c->failed))
		return TICK_MSEC;
	return clock_left_msec(due, TICK_MSEC);
}

void *control_thread(void *arg)
{
	struct control *c = arg;
	struct pollfd *polls = calloc((size_t)c->peer_count + 1, sizeof(*polls));
	uint64_t drained;

	pthread_mutex_lock(&c->lock);
	while (polls && !c->stopping) {
		int wait_msec = next_msec(c);

		for (int i = 0; i < c->peer_count; i++)
			polls[i] = (struct pollfd){.fd = c->peers[i].gone ? -1 : c->peers[i].fd,
						   .events = POLLIN};
		polls[c->peer_count] = (struct pollfd){.fd = c->wake_fd, .events = POLLIN};
		pthread_mutex_unlock(&c->lock);
		poll(polls, (nfds_t)c->peer_count + 1, wait_msec);
		pthread_mutex_lock(&c->lock);
		if (polls[c->peer_count].revents && read(c->wake_fd, &drained, sizeof(drained)) < 0)
			perror("eventfd");
		for (int i = 0; i < c->peer_count; i++)
			if (polls[i].revents)
				read_peer(c, i);
		watch_step(c);
		control_thread_settle(c);
		watch_main(c);
		watch_leave(c);
	}
	pthread_mutex_unlock(&c->lock);
	free(polls);
	return NULL;
}
