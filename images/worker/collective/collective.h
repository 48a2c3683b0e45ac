/* SPDX-License-Identifier: MIT */
/*
 * The collectives, by nccl-tests' names, and all that differs from one to the other and is not
 * moving data: how much of a buffer they use, where in place is, what the bandwidth of the bus is,
 * and what each element of the result must be.
 *
 * Sizes and factors are those of nccl-tests (doc/PERFORMANCE.md and GetCollByteCount() of its
 * sources): the size asked for is that of the larger buffer; where it is cut into one block per
 * rank, a block is a multiple of 16 bytes (hypercube: 4 elements; gather and scatter: 1), so that a small
 * size may become 0.
 */
#ifndef WORKER_COLLECTIVE_H
#define WORKER_COLLECTIVE_H

#include "collective/pattern.h"

enum collective_kind {
	ALL_REDUCE,
	REDUCE_SCATTER, /* rank r gets block r of the reduction of all inputs */
	ALL_GATHER,	/* everybody gets everybody's block */
	BROADCAST,	/* everybody gets the root's data */
	ALLTOALL,	/* rank r gets block r of each rank's input */
	SENDRECV,	/* each rank sends to the next one and receives from the one before */
	REDUCE,		/* the root gets the reduction of all inputs */
	GATHER,		/* the root gets everybody's block */
	SCATTER,	/* rank r gets block r of the root's input */
	ALLTOALLV,	/* as ALLTOALL, of blocks of which only a part is used: alltoallv_count() */
	HYPERCUBE,	/* as ALL_GATHER, by exchanges with rank ^ 1, rank ^ 2, rank ^ 4, ... */
	COLLECTIVE_COUNT
};

/* One call on one rank. @count is NCCL's argument: elements of a block where there are blocks, else
 * of the whole. */
struct collective {
	enum collective_kind kind;
	const void *src;
	void *dst;
	size_t count;
	enum dtype type;
	enum op op; /* of collective_reduces() */
	int root;   /* of collective_has_root() */
};

/* What a size means. Counts and offsets are elements; an offset is what each rank adds, times its
 * rank, to find its place in place. */
struct extent {
	size_t count; /* struct collective's */
	size_t send, recv;
	size_t send_offset, recv_offset;
};

/* Parses a name; -1 for an unknown one. */
int collective_parse(const char *name);
const char *collective_name(enum collective_kind kind);

/* Does it reduce? Else it only moves elements. */
bool collective_reduces(enum collective_kind kind);

/* Is one rank its root? */
bool collective_has_root(enum collective_kind kind);

/* What is wrong with @world ranks for it; NULL: nothing. */
const char *collective_problem(enum collective_kind kind, int world);

/* Can its input be where its output is? */
bool collective_in_place(enum collective_kind kind);

/* Else: does nccl-tests time it in place all the same? Its output is wrong then, since blocks overwrite each other. */
bool collective_timed_in_place(enum collective_kind kind);

struct extent collective_extent(enum collective_kind kind, uint64_t bytes, enum dtype type,
				int world);

/* ALLTOALLV: how many of a block's @count elements ranks @a and @b send to each other: from 1 / @world of them to
 * all, as a mixture of experts sends more to one than to another. */
size_t alltoallv_count(size_t count, int a, int b, int world);

/* The part of a size that counts for algbw: of hypercube what a rank receives, of alltoallv what is used. */
double collective_share(enum collective_kind kind, int world);

/* busbw / algbw. */
double collective_factor(enum collective_kind kind, int world);

/* The inputs' blocks: 1, or one per rank. */
int collective_blocks(enum collective_kind kind, int world);

/* Compares @rank's result @data, by means of @comparer, with what it must be. Elements are counted from the start of the
 * result. -1: *err. */
int collective_check(const struct collective *call, const struct pattern *pattern, int rank,
		     const struct comparer *comparer, const void *data, struct mismatch *found,
		     struct failure *err);

#endif
