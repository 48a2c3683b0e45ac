/* SPDX-License-Identifier: MIT */
/*
 * --sgd: data-parallel training of a small network on handwritten digits, in four ways in one run:
 *   one      rank 0 alone: the loss and the speed to compare with;
 *   sum      synchronous SGD: every rank has the weights, gradients are all-reduced by the backend;
 *   server   a parameter server: rank 0 has the weights and does nothing else, the others send it
 *            gradients over TCP and get weights, all in step;
 *   async    the same, but the server answers each gradient at once.
 * Every way uses the same images in the same order, BATCH of them per step, spread over the ranks
 * that learn; so `one`, `sum` and `server` do the same sums in another order.
 */
#ifndef WORKER_SGD_H
#define WORKER_SGD_H

#include "backend/backend.h"
#include "fault.h"
#include "sgd/network.h"

#define SGD_BATCH 128
#define SGD_RATE 0.3f
#define SGD_STEPS_MAX 100000
#define SGD_RUNS 4
#define SGD_VECTOR (NETWORK_WEIGHTS + 1) /* a gradient, then the loss that goes with it */
#define SGD_BYTES (SGD_VECTOR * sizeof(float))

struct sgd_run {
	const char *name;
	int learners;
	double seconds, steps_per_second;
	double efficiency;	      /* of `learners` ranks, against rank 0 alone */
	double share;		      /* of the time spent in communication, mean of the learners */
	double loss;		      /* of the last step, over its batch */
	double test_loss, test_right; /* over the images that nobody learned from */
};

/* What rank 0 knows in the end. */
struct sgd {
	int steps, count;
	struct sgd_run runs[SGD_RUNS];
	uint64_t weights; /* hash of the weights, equal on all ranks after `sum` */
};

struct sgd_setup {
	const struct group *group;
	const struct backend *backend;
	void *state;
	const struct fault *fault;
};

/* Runs on all ranks. *verdict, the same on all ranks, becomes STATUS_DATA if the ranks' weights
 * differ after `sum`, or if its loss is not that of `one` within tolerance. -1: *err. The backend's
 * buffers must hold SGD_BYTES. */
int sgd_run(const struct sgd_setup *setup, struct sgd *sgd, struct failure *verdict,
	    struct failure *err);

/* Adds the gradients of @learner's part of the batch of @step to @vector, which is cleared. */
void sgd_learn(const float *weights, const struct digit *digits, int step, int learner,
	       int learners, float *vector);

#endif
