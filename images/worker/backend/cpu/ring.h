/* SPDX-License-Identifier: MIT */
/*
 * All-reduce and other collectives over TCP among the leaders of the hosts.
 *
 * Large vectors: ring reduce-scatter, then ring all-gather, 2(h-1)/h of the vector per direction
 * (Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations",
 * 2009). What a step sends is, byte for byte, what the step before received, so both directions run
 * as one stream each, and bytes are passed on as soon as they are reduced. Small vectors:
 * dissemination all-gather in log2(h) rounds (Bruck et al., 1997), then each leader reduces all
 * vectors in the same order; so results are bit for bit the same on all ranks.
 */
#ifndef WORKER_RING_H
#define WORKER_RING_H

#include "collective/dtype.h"
#include "rendezvous/control.h"

#define RING_LINKS_MAX 15 /* log2 of WORLD_MAX, and one */

struct ring {
	const struct group *group;
	const int *leaders; /* [count] their ranks, owned by the caller */
	int count, me;	    /* number of leaders; index of this one */
	int links;
	int out[RING_LINKS_MAX],
		in[RING_LINKS_MAX]; /* [k]: to leader me + 2^k, from leader me - 2^k */
	bool crowded;
	unsigned char *scratch;	 /* received bytes before they are reduced */
	unsigned char *gathered; /* all leaders' small vectors */
	struct piece *pieces;	 /* [2 * world + 1] scratch */
	int *order;		 /* [world] ranks, in the order of their leaders' places */
	int *begin;		 /* [count + 1] where each leader's ranks begin in `order` */
};

struct piece;

/* Connects this leader to the others it talks to. Every leader calls it at the same time.
 * @leader_of: [world] each rank's leader. @crowded: see placement_crowded(). */
int ring_open(struct ring *ring, const struct group *group, const int *leaders, int count,
	      const int *leader_of, bool crowded, struct failure *err);

/* Reduces @count elements of all leaders' @src into all leaders' @dst (may be @src). @divisor > 1
 * divides the result. On -1 *err names the rank whose connection broke, or nothing if the run has
 * failed anyway. */
int ring_allreduce(struct ring *ring, const void *src, void *dst, size_t count, enum dtype type,
		   enum op op, int divisor, struct failure *err);

/* The other collectives, all in place in @vector, in which each rank has a block of
 * @block_bytes or, for the broadcast, which all is one. All-gather: a leader brings the blocks of
 * its own ranks and gets all. Reduce-scatter: it brings all (in @src, which may be @vector) and
 * gets the blocks of its own ranks, reduced; the other blocks are overwritten. Both are halves of
 * the all-reduce's ring. Broadcast: from the leader number @root, down a binomial tree, or, if it
 * is not small, passed on from leader to leader as it comes. */
int ring_allgather(struct ring *ring, void *vector, size_t block_bytes, struct failure *err);
int ring_reduce_scatter(struct ring *ring, const void *src, void *vector, size_t block_count,
			enum dtype type, enum op op, int divisor, struct failure *err);
int ring_broadcast(struct ring *ring, void *vector, size_t bytes, int root, struct failure *err);

/* Whether a vector of @bytes goes to everybody as a whole, not round the ring of @count leaders. */
bool ring_is_small(int count, size_t bytes);

/* Whether a broadcast of @bytes goes down the tree. */
bool ring_is_tree(size_t bytes);

void ring_release(struct ring *ring);

#endif
