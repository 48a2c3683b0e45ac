/* SPDX-License-Identifier: MIT */
/*
 * What ring.c (the algorithms) and ring_links.c (the connections) share.
 */
#ifndef WORKER_RING_INTERNAL_H
#define WORKER_RING_INTERNAL_H

#include "ring.h"

#define RING_SMALL_BYTES 65536	 /* up to here a vector goes to everybody as a whole, ... */
#define RING_GATHER_BYTES 262144 /* ... if all of them together are no more than this */
#define RING_CRUMB_BYTES 65536	 /* passed on no sooner than this much is there */
#define RING_CHUNK_BYTES 524288	 /* received and reduced at a time */

/* A range of the vector, in bytes. */
struct piece {
	size_t at, bytes;
};

/* Two byte streams that run round the ring at the same time: pieces [0, sends) go to the next
 * leader, pieces [first, count) come from the one before. What comes is passed on as it comes, so
 * pieces [0, first) must be there at the start. Pieces [first, reduced) are reduced with what is
 * here of them, those from `scaled` on are then divided. */
struct flow {
	struct ring *ring;
	const struct piece *pieces;
	size_t count, first, sends, reduced, scaled;
	const unsigned char *src; /* pieces [0, first), and what is reduced */
	unsigned char *dst;	  /* what is received */
	enum dtype type;
	reduce_fn *reduce; /* NULL: nothing is reduced */
	int divisor;
	struct failure *err;

	/* as it runs */
	size_t send, recv;	 /* the pieces that are moving */
	size_t send_at, recv_at; /* bytes of them */
	size_t ready;		 /* bytes that may be sent and have not been */
	size_t carry;		 /* bytes of an incomplete element in the scratch */
};
int flow_run(struct flow *flow);

/* Sends @out_bytes over link @link and receives @in_bytes at the same time. */
int ring_exchange(struct ring *ring, int link, const unsigned char *out, size_t out_bytes,
		  unsigned char *in, size_t in_bytes, struct failure *err);

/* Everybody's vector of @bytes to everybody: afterwards the one of leader me-j lies at place j of
 * `gathered`. */
int ring_gather_small(struct ring *ring, const void *src, size_t bytes, struct failure *err);

/* Waits until out[@link] can take (@sending) or in[@link] has (@receiving) bytes, *idle calls in a
 * row having found neither: at first not at all, later in poll(). @done: see control_awaits(). -1
 * if the run has failed. */
int ring_wait(struct ring *ring, int link, bool sending, bool receiving, uint64_t done, int *idle);

/* What has come so far, as a number that grows: the place in piece or link @index. */
static inline uint64_t ring_done(size_t index, size_t at)
{
	return (uint64_t)index << 44 | at;
}

/* Sets *err for the broken connection to (@out) or from leader @link. Returns -1. */
int ring_lost(const struct ring *ring, int link, bool out, int error, struct failure *err);

#endif
