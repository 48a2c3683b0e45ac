/* SPDX-License-Identifier: MIT */
/*
 * Memory shared by the ranks of one host, and all-reduce in it without copies: the two buffers of
 * each rank lie in a segment of the leader's that all of them map, so each rank reduces its share straight out
 * of everybody's input and writes it straight into everybody's output (two flag waits in all). Up
 * to SHM_SMALL_BYTES every rank posts its input in a slot and reduces all slots itself (one flag
 * wait).
 *
 * A segment has no name that could be left behind, no size limit of /dev/shm, and nothing for
 * strangers to open (segment.h). Where opening the leader's is not
 * allowed (another user, another pid namespace) shm_attach() says so, and the caller uses
 * TCP.
 *
 * Waiting: a bounded spin while there are at least as many cores as ranks on this machine, then
 * sched_yield(), then a futex. So more ranks than cores stay fast, and a rank that waits for the
 * network costs nothing.
 */
#ifndef WORKER_SHM_H
#define WORKER_SHM_H

#include "collective/collective.h"
#include "rendezvous/control.h"

#define SHM_SMALL_BYTES 2048

/* Flags of a rank. Each holds the number of the last operation in which it has come so far. */
enum shm_flag {
	SHM_READY, /* its input may be read */
	SHM_DONE,  /* its share is reduced */
	SHM_FINAL, /* leader: the result of all hosts is in its output */
	SHM_TAKEN, /* it has copied that result */
	SHM_OFFER, /* exchange: its buffer may be read */
	SHM_GOT,   /* exchange: it has read the other's buffer */
	SHM_FLAGS
};

struct shm_area; /* one rank's part of the segment */

struct shm {
	const struct group *group;
	int me, count;		 /* index among this host's ranks; 0 is the leader */
	const int *ranks;	 /* [count] their ranks, owned by the caller */
	struct shm_area **areas; /* [count] */
	void *segment;		 /* as mapped here, NULL: not yet */
	size_t segment_bytes, area_bytes, buffer_bytes, stream_bytes;
	uint32_t sequence; /* number of the current operation */
	int spins, yields;
	void *scratch;
};

/* On the leader: creates the segment, with two buffers of @bytes for each rank; *fd is what the neighbours open. On the
 * others *fd becomes -1. @crowded: see placement_crowded(). */
int shm_create(struct shm *shm, const struct group *group, const int *ranks, int count,
	       size_t bytes, bool crowded, int *fd, struct failure *err);

/* Maps the leader's segment, given all ranks' descriptors (@fds, by rank). Returns -1 if it cannot be mapped. */
int shm_attach(struct shm *shm, const int *fds);

/* Gives the neighbours up after shm_attach() failed on one of them: only this rank's buffers are left, as index 0.
 * `ranks` holds only this rank by then. */
int shm_alone(struct shm *shm, struct failure *err);

/* This rank's buffer 0 or 1. */
void *shm_buffer(const struct shm *shm, int which);

/* Begins the next operation. All ranks call it for every operation. */
void shm_next(struct shm *shm);

/* Whole all-reduce on this host. @from and @to say which buffer (0 or 1); @divisor > 1 divides the
 * result. */
int shm_allreduce(struct shm *shm, int from, int to, size_t count, enum dtype type, enum op op,
		  int divisor);

/* The pieces of a hierarchical one. Up to SHM_SMALL_BYTES: shm_collect() gives the leader the
 * reduction of this host's inputs in @out; after shm_publish() by the leader the others receive
 * @out by shm_receive(). Above: shm_reduce() reduces into the leader's buffer @to, and returns on
 * the leader when it is complete; shm_spread() hands @bytes at @offset of the leader's buffer
 * @which to all others' @dst. All return -1 if the run has failed. */
int shm_collect(struct shm *shm, int from, void *out, size_t count, enum dtype type, enum op op);
void shm_publish(struct shm *shm, const void *result, size_t bytes);
int shm_receive(struct shm *shm, void *out, size_t bytes);
int shm_reduce(struct shm *shm, int from, int to, size_t count, enum dtype type, enum op op);
int shm_spread(struct shm *shm, int which, size_t offset, void *dst, size_t bytes);

/* Any other collective whose ranks are all on this host: each rank takes what it
 * needs straight out of the others' inputs, or, up to SHM_SMALL_BYTES, out of their slots. */
int shm_collective(struct shm *shm, const struct collective *call, int divisor);

/* The pieces of one that also reaches other hosts. shm_enter() returns when all inputs here may be
 * read, shm_leave() when nobody here reads them any more. In between: shm_take() copies what this
 * rank gets from its neighbour @index, which may be itself, and shm_bring() copies the whole input
 * of neighbour @index to @dst. */
int shm_enter(struct shm *shm);
int shm_leave(struct shm *shm);
void shm_take(const struct shm *shm, const struct collective *call, int index);
void shm_bring(const struct shm *shm, const struct collective *call, int index, void *dst);

/* Exchanges @bytes with one neighbour (its index in `ranks`): the start of either's buffer 0 to the
 * start of the other's buffer 1. @number grows with each exchange of a rank and is the same on both
 * sides. */
int shm_exchange(struct shm *shm, int index, size_t bytes, uint32_t number);

/* Unmaps everything; waits for nobody. */
void shm_release(struct shm *shm);

#endif
