/* SPDX-License-Identifier: MIT */
/* A learner sends its gradient and then waits for weights, so both sides always know what comes
 * next. */
#include "sgd/server.h"
#include "clock.h"
#include "net/links.h"
#include "rendezvous/control.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

static void server_strike(const struct server *s, int step)
{
	if (step == s->steps / 2)
		fault_strike(s->fault, s->async ? PHASE_ASYNC : PHASE_SERVER, s->group->rank);
}

/* What the server keeps of one learner. */
struct learner {
	float *vector; /* [SGD_VECTOR] gradient being received */
	size_t have;   /* bytes of it */
	int left;      /* gradients still to come */
	int64_t heard_usec;
};

static int learn_along(const struct server *s, float *weights, double *busy_usec,
		       struct failure *err)
{
	float *vector = malloc(SGD_BYTES);
	int rc = 0;

	if (!vector)
		abort();
	*busy_usec = 0;
	for (int step = 0; step < s->steps && rc == 0; step++) {
		int64_t begin;

		sgd_learn(weights, s->digits, step, s->group->rank - 1, s->group->world - 1,
			  vector);
		server_strike(s, step);
		begin = clock_nsec();
		control_begin(s->group->control, begin / 1000);
		rc = mesh_move(s->mesh, 0, true, vector, SGD_BYTES, err);
		if (rc == 0)
			rc = mesh_move(s->mesh, 0, false, weights, NETWORK_WEIGHTS * sizeof(float),
				       err);
		*busy_usec += (double)(clock_nsec() - begin) / 1000;
	}
	control_end(s->group->control);
	free(vector);
	return rc;
}

static int send_weights(const struct server *s, int rank, float *weights, struct failure *err)
{
	return mesh_move(s->mesh, rank, true, weights, NETWORK_WEIGHTS * sizeof(*weights), err);
}

/* All gradients of a step, added in the order of the ranks, then weights to all. */
static int serve_in_step(const struct server *s, struct learner *learners, float *weights,
			 double *loss, struct failure *err)
{
	int world = s->group->world;
	float *sum = learners[1].vector;

	for (int rank = 1; rank < world; rank++) {
		const float *one = learners[rank].vector;

		if (mesh_move(s->mesh, rank, false, learners[rank].vector, SGD_BYTES, err) < 0)
			return -1;
		for (size_t i = 0; rank > 1 && i < SGD_VECTOR; i++)
			sum[i] += one[i];
	}
	network_step(weights, sum, SGD_RATE / SGD_BATCH);
	*loss = (double)sum[NETWORK_WEIGHTS] / SGD_BATCH;
	for (int rank = 1; rank < world; rank++)
		if (send_weights(s, rank, weights, err) < 0)
			return -1;
	return 0;
}

/* Reads on from one learner; answers it when its gradient is whole. */
static int serve_one(const struct server *s, struct learner *learner, int rank, float *weights,
		     double *loss, struct failure *err)
{
	ssize_t got = net_recv_some(s->mesh->fds[rank], (char *)learner->vector + learner->have,
				    SGD_BYTES - learner->have);
	double share;

	if (got < 0)
		return mesh_lost(s->mesh, rank, got, err);
	learner->heard_usec = clock_usec();
	learner->have += (size_t)got;
	if (learner->have < SGD_BYTES)
		return 0;
	learner->have = 0;
	learner->left--;
	if (rank == 1)
		server_strike(s, s->steps - learner->left);
	share = (double)learner->vector[NETWORK_WEIGHTS] / SGD_BATCH;
	*loss += share * (learner->left == 0);
	network_step(weights, learner->vector, SGD_RATE / SGD_BATCH);
	return send_weights(s, rank, weights, err);
}

/* The learner that has not been heard of for the longest time, 0: all are done. */
static int longest_silent(const struct learner *learners, int world)
{
	int found = 0;

	for (int rank = 1; rank < world; rank++)
		if (learners[rank].left > 0 &&
		    (found == 0 || learners[rank].heard_usec < learners[found].heard_usec))
			found = rank;
	return found;
}

/* Whoever comes is answered at once. *loss adds up the last losses of all. */
static int serve_at_once(const struct server *s, struct learner *learners, float *weights,
			 double *loss, struct failure *err)
{
	struct control *control = s->group->control;
	int world = s->group->world, silent, rc = 0;
	struct pollfd *polls = calloc((size_t)world, sizeof(*polls));

	if (!polls)
		abort();
	polls[0].fd = -1;
	for (int rank = 1; rank < world; rank++)
		learners[rank].heard_usec = clock_usec();
	while (rc == 0 && (silent = longest_silent(learners, world)) > 0) {
		control_begin(control, learners[silent].heard_usec);
		control_awaits(control, silent, 0);
		for (int rank = 1; rank < world; rank++) {
			polls[rank].fd = learners[rank].left > 0 ? s->mesh->fds[rank] : -1;
			polls[rank].events = POLLIN;
		}
		if (poll(polls, (nfds_t)world, LINK_POLL_MSEC) <= 0) {
			rc = control_failed(control) ? -1 : 0;
			continue;
		}
		control_awaits(control, -1, 0);
		for (int rank = 1; rank < world && rc == 0; rank++)
			if (polls[rank].revents)
				rc = serve_one(s, &learners[rank], rank, weights, loss, err);
	}
	control_awaits(control, -1, 0);
	free(polls);
	return rc;
}

static int server_serve(const struct server *s, float *weights, double *loss, struct failure *err)
{
	int world = s->group->world, rc;
	struct learner *learners = calloc((size_t)world, sizeof(*learners));

	if (!learners)
		abort();
	*loss = 0;
	rc = mesh_link_all(s->mesh, err);
	for (int rank = 1; rank < world; rank++) {
		learners[rank].left = s->steps;
		learners[rank].vector = malloc(SGD_BYTES);
		if (!learners[rank].vector)
			abort();
	}
	if (s->async && rc == 0)
		rc = serve_at_once(s, learners, weights, loss, err);
	for (int step = 0; step < s->steps && !s->async && rc == 0; step++) {
		control_begin(s->group->control, clock_usec());
		server_strike(s, step);
		rc = serve_in_step(s, learners, weights, loss, err);
	}
	control_end(s->group->control);
	for (int rank = 1; rank < world; rank++)
		free(learners[rank].vector);
	free(learners);
	return rc;
}

int server_run(const struct server *s, float *weights, double *loss, double *busy_usec,
	       struct failure *err)
{
	*busy_usec = 0;
	if (s->group->rank == 0)
		return server_serve(s, weights, loss, err);
	return learn_along(s, weights, busy_usec, err);
}
