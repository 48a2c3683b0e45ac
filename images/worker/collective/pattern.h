/* SPDX-License-Identifier: MIT */
/*
 * Verification data. Each rank fills its buffer with small integers that depend on its rank, the
 * index and a salt, chosen so that every partial result, in whatever order the ranks are combined,
 * is exact in the element type: so a right result has exactly one bit pattern and any other is
 * wrong, for every type, operation and world size.
 *
 * Where elements are only moved, `op` is OP_NONE, whose inputs use the type's whole exact range.
 * Values repeat every PATTERN_PERIOD elements (a prime, so that no power-of-two shift goes unseen);
 * the expected value of an index is the reduction of the same slot over all ranks, worked out in
 * 64-bit integers. Where a sum over all ranks would leave the exact range (bf16: 256), only every
 * k-th rank adds to a given slot. A result of zeros, one that lacks a rank and one with a rank counted
 * twice differ from the right one, at the latest in the next check, except where the right one is
 * zero itself: averages of u8 among more than 255 ranks, of i8 among more than 127.
 */
#ifndef WORKER_PATTERN_H
#define WORKER_PATTERN_H

#include "collective/dtype.h"

#include <stdbool.h>

#define PATTERN_PERIOD 1021

struct pattern {
	enum dtype type;
	enum op op;
	int world;
	uint32_t salt; /* another one for each check, so that a stale result is seen as wrong */
	bool scaled;   /* avg of a floating-point type was scaled before it was added: each step may
			  round, and what that may change in each slot is allowed for */
};

#define PATTERN_ALL (-1)

/* Elements of a result: `at` elements from its start, from @source's input, or the reduction of all
 * inputs (PATTERN_ALL), from element `first` of it on. */
struct span {
	int source;
	uint64_t first, at;
};

/* What a check found. `first` and the texts are meaningful only if `wrong` > 0. */
struct mismatch {
	uint64_t wrong; /* number of wrong elements */
	uint64_t first; /* index of the first one */
	char expected[32], got[32];
};

/* Fills @data (@count elements) with the input of @rank. */
void pattern_fill(const struct pattern *pattern, int rank, void *data, size_t count);

/* Compares @data (@count elements) with @span, and adds what is wrong to *found. */
void pattern_check(const struct pattern *pattern, const struct span *span, const void *data,
		   size_t count, struct mismatch *found);

#endif
