/* SPDX-License-Identifier: MIT */
/*
 * The parameter server of --sgd: rank 0 has the weights, the others learn.
 */
#ifndef WORKER_SERVER_H
#define WORKER_SERVER_H

#include "net/mesh.h"
#include "sgd/sgd.h"

struct server {
	const struct group *group;
	struct mesh *mesh;
	const struct digit *digits;
	const struct fault *fault;
	int steps;
	bool async;
};

/* Runs on all ranks: rank 0 serves and leaves the trained weights in @weights, the others send it
 * gradients and get weights. *loss is, on rank 0, the mean of the last step. *busy_usec is the time
 * that this rank spent in communication. */
int server_run(const struct server *server, float *weights, double *loss, double *busy_usec,
	       struct failure *err);

#endif
