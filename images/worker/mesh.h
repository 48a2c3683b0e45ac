/* SPDX-License-Identifier: MIT */
/*
 * TCP connections between any two ranks, made when first needed. The higher rank connects.
 */
#ifndef WORKER_MESH_H
#define WORKER_MESH_H

#include "group.h"

struct mesh {
	const struct group *group;
	int *fds;   /* [world], -1: not connected */
	int wanted; /* the rank whose call is awaited */
};

void mesh_init(struct mesh *mesh, const struct group *group);

/* Sends @bytes of @out to rank @peer and receives as many from it into @in, both at a time. The
 * peer makes the same call. On -1 *err names the peer, or nothing if the run has failed. */
int mesh_exchange(struct mesh *mesh, int peer, const void *out, void *in, size_t bytes,
		  struct failure *err);

void mesh_release(struct mesh *mesh);

#endif
