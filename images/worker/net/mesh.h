/* SPDX-License-Identifier: MIT */
/*
 * TCP connections between any two ranks, made when first needed. The higher rank connects.
 */
#ifndef WORKER_MESH_H
#define WORKER_MESH_H

#include "group.h"

#include <stdbool.h>
#include <sys/types.h>

struct mesh {
	const struct group *group;
	int *fds;	    /* [world], -1: not connected */
	const bool *needed; /* [world] for mesh_link_set(): whose calls are awaited; else NULL */
	int wanted;	    /* the rank whose call is awaited; WORLD_MAX: all higher ones' */
};

void mesh_init(struct mesh *mesh, const struct group *group);

/* The connection to rank @peer, which asks for it too; -1 with *err set. It stays the mesh's. */
int mesh_link(struct mesh *mesh, int peer, struct failure *err);

/* The same to all higher ranks at once, for which each of them asks by mesh_link(). */
int mesh_link_all(struct mesh *mesh, struct failure *err);

/* The links to all ranks with @needed[rank], at the same time on all ranks and after a barrier:
 * nobody may call before all await calls. */
int mesh_link_set(struct mesh *mesh, const bool *needed, struct failure *err);

/* Moves @bytes to (@sending) or from rank @peer over its link. */
int mesh_move(struct mesh *mesh, int peer, bool sending, void *data, size_t bytes,
	      struct failure *err);

/* Sets *err: the connection to @peer broke with @error (negative). Returns -1. */
int mesh_lost(const struct mesh *mesh, int peer, ssize_t error, struct failure *err);

/* Sends @bytes of @out to rank @peer and receives as many from it into @in, both at a time. The
 * peer makes the same call. On -1 *err names the peer, or nothing if the run has failed. */
int mesh_exchange(struct mesh *mesh, int peer, const void *out, void *in, size_t bytes,
		  struct failure *err);

/* Sends @bytes of @out to rank @to and receives as many from rank @from into @in, both at a time;
 * either rank may be -1: nobody. The others make the matching calls; the links are there already.
 */
int mesh_shift(struct mesh *mesh, int to, const void *out, int from, void *in, size_t bytes,
	       struct failure *err);

void mesh_release(struct mesh *mesh);

#endif
