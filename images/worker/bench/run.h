/* SPDX-License-Identifier: MIT */
/* What bench.c and timing.c share: one size in one placement. */
#ifndef WORKER_RUN_H
#define WORKER_RUN_H

#include "bench/bench.h"
#include "bench/contents.h"

/*
 * What each rank sends to rank 0 after a size; its iterations' times (float, microseconds) follow.
 */
struct part {
	struct mismatch mismatch;
	double usec;	  /* of a queue: the average by its own clock; 0: that of the times */
	double host_usec; /* until the host has put an iteration into the queue; 0: not known */
};

/* One size in one placement, on this rank. */
struct run {
	const struct bench *bench;
	struct collective call;
	struct extent extent;
	int number, sizes; /* of how many this size is which */
	uint32_t salt;
	bool called;	     /* there has been a first collective */
	int64_t step_usec;   /* how long the last check's collective took at most */
	unsigned char *part; /* struct part and the times */
	size_t part_bytes;
	float *sorted;	    /* [iterations] scratch */
	unsigned char *all; /* rank 0: everybody's parts */
	struct contents contents;
};

#endif
