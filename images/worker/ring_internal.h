/* SPDX-License-Identifier: MIT */
/*
 * What ring.c (the algorithms) and ring_links.c (the connections) share.
 */
#ifndef WORKER_RING_INTERNAL_H
#define WORKER_RING_INTERNAL_H

#include "ring.h"

#define RING_SMALL_BYTES 32768	 /* up to here a vector goes to everybody as a whole, ... */
#define RING_GATHER_BYTES 131072 /* ... if all of them together are no more than this */
#define RING_CRUMB_BYTES 65536	 /* passed on no sooner than this much is there */
#define RING_CHUNK_BYTES 524288	 /* received and reduced at a time */

/* Waits until out[@link] can take (@sending) or in[@link] has (@receiving) bytes, *idle calls in a
 * row having found neither: at first not at all, later in poll(). -1 if the run has failed. */
int ring_wait(struct ring *ring, int link, bool sending, bool receiving, int *idle);

/* Sets *err for the broken connection to (@out) or from leader @link. Returns -1. */
int ring_lost(const struct ring *ring, int link, bool out, int error, struct failure *err);

#endif
