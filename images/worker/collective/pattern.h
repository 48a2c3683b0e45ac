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
#include "failure.h"

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

/* What the elements of a span must be: the one definition that results are compared with, on the host and on a GPU.
 * Element i has a key (pattern_key()) from range[i % PATTERN_PERIOD][0] to [1]. Both are the same, but for averages that
 * were scaled, where all is right that rounding can come to. */
struct bounds {
	size_t element_bytes;
	size_t count; /* how many there are: PATTERN_PERIOD, or fewer of a short span */
	int64_t range[PATTERN_PERIOD][2];
	unsigned char want[PATTERN_PERIOD * ELEMENT_BYTES_MAX]; /* elements, side by side */
};

/* Elements beyond their bounds. */
struct difference {
	uint64_t wrong, first; /* the index of the first one */
	unsigned char got[ELEMENT_BYTES_MAX];
};

/* Compares @count elements at @data, wherever that is, with @bounds; -1: *err. */
typedef int compare_fn(void *arg, const struct bounds *bounds, const void *data, size_t count,
		       struct difference *difference, struct failure *err);
struct comparer {
	compare_fn *compare;
	void *arg;
};

/* For data in this process's memory. */
extern const struct comparer pattern_on_host;

/* What the rank's input counts in OP_MULSUM: 1 or 2, as in nccl-tests (verifiable.cu, ncclVerifiablePremulScalar()). */
int64_t pattern_scalar(int rank);

/* Fills @data (@count elements) with the input of @rank. */
void pattern_fill(const struct pattern *pattern, int rank, void *data, size_t count);

/* An element as an integer that is the larger the larger the number is, of floating-point types, too (as IEEE 754's
 * totalOrder). No two patterns of bits have the same. */
int64_t pattern_key(size_t element_bytes, const void *element);

/* What @count elements from the start of @span on must be. */
void pattern_bounds(const struct pattern *pattern, const struct span *span, size_t count,
		    struct bounds *bounds);

/* Compares @count elements at @data with @span, and adds what is wrong to *found; -1: *err. */
int pattern_check(const struct pattern *pattern, const struct span *span,
		  const struct comparer *comparer, const void *data, size_t count,
		  struct mismatch *found, struct failure *err);

#endif
