/* SPDX-License-Identifier: MIT */
/*
 * How fast a card moves data: inside its memory, to and from the host's. Each is measured in ROUNDS
 * of several copies, timed by events of the card; the fastest round counts, since others only disturb.
 * GB are 1e9 bytes. A copy inside of a card reads and writes, so its bytes count twice, as NVIDIA's bandwidthTest and
 * nvbandwidth have it.
 */
#ifndef WORKER_COPIES_H
#define WORKER_COPIES_H

#include "health/card.h"

/* A way of moving data: queue() puts one copy into the card's stream, and returns CUDA's code. */
struct copying {
	int (*queue)(void *arg);
	void *arg;
	int copies;	  /* of a round */
	double bytes;	  /* that a copy counts for */
	const char *call; /* the function of CUDA, for a failure */
};

/* Measures it: GB/s of the fastest round. Fails with the reason. */
int copies_time(struct card *card, const struct copying *copying, double *gbps,
		struct failure *err);

/* Copies inside of the card's memory, and fills it; a quarter of what is free at most. Fails with the reason. */
int copies_memory(struct card *card, double *copy_gbps, double *fill_gbps, struct failure *err);

/* With memory that is pinned, near the card where the kernel says which cores are. */
int copies_host(struct card *card, double *to_gbps, double *from_gbps, struct failure *err);

#endif
