/* SPDX-License-Identifier: MIT */
/*
 * What the buffers of a collective hold before it, and whether it did what it should: for buffers in host memory; for
 * those of a device that fills and compares by itself; and for those of one that does not, by way of host memory.
 */
#ifndef WORKER_CONTENTS_H
#define WORKER_CONTENTS_H

#include "backend/backend.h"

struct contents {
	const struct backend *backend;
	void *state;
	unsigned char *
		host; /* what a device's buffers are copied to, and from; owned; NULL: nothing is */
	bool on_device; /* the device does it */
};

/* For buffers of @bytes. @checks: something will be compared; else no host memory is taken for it. */
void contents_init(struct contents *c, const struct backend *backend, void *state, uint64_t bytes,
		   bool checks);

/* Fills the input with that of @rank, and the output with what no result should be. */
int contents_fill(const struct contents *c, const struct collective *call,
		  const struct extent *extent, const struct pattern *pattern, int rank,
		  struct failure *err);

/* Waits for the output, and brings it to where it is compared. */
int contents_await(const struct contents *c, const struct collective *call,
		   const struct extent *extent, struct failure *err);

/* Turns one bit over in the middle of the output: --fault-inject corrupt. After contents_await(). */
int contents_corrupt(const struct contents *c, const struct collective *call,
		     const struct extent *extent, struct failure *err);

/* Compares the output with @pattern. After contents_await(). */
int contents_check(const struct contents *c, const struct collective *call,
		   const struct pattern *pattern, int rank, struct mismatch *found,
		   struct failure *err);

void contents_release(struct contents *c);

#endif
