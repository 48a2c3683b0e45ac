/* SPDX-License-Identifier: MIT */
/*
 * The connections between the leaders, as the algorithms of ring.c use them. ring_open() makes them.
 */
#ifndef WORKER_RING_LINKS_H
#define WORKER_RING_LINKS_H

#include "backend/cpu/ring.h"

#define RING_CHUNK_BYTES 524288	 /* size of `scratch`: received and reduced at a time */
#define RING_GATHER_BYTES 262144 /* size of `gathered`: all leaders' small vectors together */

/* A range of the vector, in bytes. */
struct piece {
	size_t at, bytes;
};

/* Waits until out[@link] can take (@sending) or in[@link] has (@receiving) bytes. *idle counts the
 * calls in a row that found neither: the first ones return at once, later ones wait in poll().
 * @done: see control_awaits(). -1 if the run has failed. */
int ring_wait(struct ring *ring, int link, bool sending, bool receiving, uint64_t done, int *idle);

/* Sets *err for the broken connection to (@out) or from leader @link. Returns -1. */
int ring_lost(const struct ring *ring, int link, bool out, int error, struct failure *err);

#endif
