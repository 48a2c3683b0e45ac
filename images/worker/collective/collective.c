/* SPDX-License-Identifier: MIT */
#include "collective/collective.h"

#include <string.h>

#define BLOCK_BYTES 16 /* a block is a multiple of it */

static const struct {
	const char *name;
	bool reduces, in_place;
	bool timed_in_place;	      /* though what it does then is not right */
	bool cuts_input, cuts_output; /* into one block per rank */
	bool has_root;
	size_t unit; /* a block is a multiple of so many elements; 0: of BLOCK_BYTES */
} collectives[COLLECTIVE_COUNT] = {
	[ALL_REDUCE] = {.name = "all_reduce", .reduces = true, .in_place = true},
	[REDUCE_SCATTER] = {.name = "reduce_scatter",
			    .reduces = true,
			    .in_place = true,
			    .cuts_input = true},
	[ALL_GATHER] = {.name = "all_gather", .in_place = true, .cuts_output = true},
	[BROADCAST] = {.name = "broadcast", .in_place = true, .has_root = true},
	[ALLTOALL] = {.name = "alltoall",
		      .timed_in_place = true,
		      .cuts_input = true,
		      .cuts_output = true},
	[SENDRECV] = {.name = "sendrecv", .timed_in_place = true},
	[REDUCE] = {.name = "reduce", .reduces = true, .in_place = true, .has_root = true},
	[GATHER] = {.name = "gather",
		    .in_place = true,
		    .cuts_output = true,
		    .has_root = true,
		    .unit = 1},
	[SCATTER] = {.name = "scatter",
		     .in_place = true,
		     .cuts_input = true,
		     .has_root = true,
		     .unit = 1},
	[ALLTOALLV] = {.name = "alltoallv", .cuts_input = true, .cuts_output = true},
	[HYPERCUBE] = {.name = "hypercube", .in_place = true, .cuts_output = true, .unit = 4},
};

int collective_parse(const char *name)
{
	for (int i = 0; i < COLLECTIVE_COUNT; i++)
		if (strcmp(name, collectives[i].name) == 0)
			return i;
	return -1;
}

const char *collective_name(enum collective_kind kind)
{
	return collectives[kind].name;
}

bool collective_reduces(enum collective_kind kind)
{
	return collectives[kind].reduces;
}

bool collective_in_place(enum collective_kind kind)
{
	return collectives[kind].in_place;
}

bool collective_timed_in_place(enum collective_kind kind)
{
	return collectives[kind].timed_in_place;
}

bool collective_has_root(enum collective_kind kind)
{
	return collectives[kind].has_root;
}

const char *collective_problem(enum collective_kind kind, int world)
{
	if (kind == HYPERCUBE && (world & (world - 1)) != 0)
		return "hypercube needs 1, 2, 4, 8, ... ranks";
	return NULL;
}

int collective_blocks(enum collective_kind kind, int world)
{
	return collectives[kind].cuts_input ? world : 1;
}

struct extent collective_extent(enum collective_kind kind, uint64_t bytes, enum dtype type,
				int world)
{
	bool in = collectives[kind].cuts_input, out = collectives[kind].cuts_output;
	size_t count = bytes / dtype_bytes(type), ranks = (size_t)world,
	       unit = collectives[kind].unit ? collectives[kind].unit
					     : BLOCK_BYTES / dtype_bytes(type);
	struct extent extent = {.count = count, .send = count, .recv = count};

	if (!in && !out)
		return extent;
	count = count / ranks / unit * unit;
	extent.count = count;
	extent.send = in ? count * ranks : count;
	extent.recv = out ? count * ranks : count;
	extent.send_offset = in ? 0 : count;
	extent.recv_offset = out ? 0 : count;
	return extent;
}

double collective_factor(enum collective_kind kind, int world)
{
	double others = (double)(world - 1) / world;

	switch (kind) {
	case ALL_REDUCE:
		return 2 * others;
	case REDUCE_SCATTER:
	case ALL_GATHER:
	case ALLTOALL:
	case ALLTOALLV:
	case GATHER:
	case SCATTER:
		return others;
	case BROADCAST:
	case SENDRECV:
	case REDUCE:
	case HYPERCUBE:
	case COLLECTIVE_COUNT:
		break;
	}
	return 1;
}

size_t alltoallv_count(size_t count, int a, int b, int world)
{
	return count * (1 + ((size_t)a + (size_t)b) % (size_t)world) / (size_t)world;
}

double collective_share(enum collective_kind kind, int world)
{
	if (kind == HYPERCUBE)
		return (double)(world - 1) / world;
	return kind == ALLTOALLV ? (world + 1.0) / (2.0 * world) : 1;
}

/* Who compares what with what. */
struct check {
	const struct collective *call;
	const struct pattern *pattern;
	const struct comparer *comparer;
	const unsigned char *data;
	struct mismatch *found;
};

/* Compares @count elements at the start of the @index-th block of the result, which come from @source's input at
 * element @first. */
static int check_block(const struct check *check, int index, int source, size_t first, size_t count,
		       struct failure *err)
{
	const struct span span = {
		.source = source, .first = first, .at = (uint64_t)index * check->call->count};

	return pattern_check(check->pattern, &span, check->comparer,
			     check->data + span.at * dtype_bytes(check->call->type), count,
			     check->found, err);
}

/* Where the result is one block per rank. */
static int check_blocks(const struct check *check, int rank, struct failure *err)
{
	const struct collective *call = check->call;
	bool cuts_input = collectives[call->kind].cuts_input;
	int world = check->pattern->world;
	size_t first = cuts_input ? call->count * (size_t)rank : 0, count = call->count;

	for (int source = 0; source < world; source++) {
		if (call->kind == ALLTOALLV)
			count = alltoallv_count(call->count, source, rank, world);
		if (check_block(check, source, source, first, count, err) < 0)
			return -1;
	}
	return 0;
}

int collective_check(const struct collective *call, const struct pattern *pattern, int rank,
		     const struct comparer *comparer, const void *data, struct mismatch *found,
		     struct failure *err)
{
	const struct check check = {call, pattern, comparer, data, found};
	int world = pattern->world, source = PATTERN_ALL;
	size_t first = 0;

	memset(found, 0, sizeof(*found));
	if ((call->kind == REDUCE || call->kind == GATHER) && rank != call->root)
		return 0;
	if (collectives[call->kind].cuts_output)
		return check_blocks(&check, rank, err);
	if (collectives[call->kind].cuts_input)
		first = call->count * (size_t)rank;
	if (call->kind == SENDRECV)
		source = (rank + world - 1) % world;
	else if (!collectives[call->kind].reduces)
		source = call->root;
	return check_block(&check, 0, source, first, call->count, err);
}
