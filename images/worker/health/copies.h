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

int copies_memory(struct card *card, double *copy_gbps, double *fill_gbps, struct failure *err);

/* With memory that is pinned, near the card where the kernel says which cores are. */
int copies_host(struct card *card, double *to_gbps, double *from_gbps, struct failure *err);

#endif
