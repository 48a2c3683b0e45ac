/* SPDX-License-Identifier: MIT */
#include "collective/collective.h"

#include <string.h>

#define BLOCK_BYTES 16 /* a block is a multiple of it */

static const struct {
	const char *name;
	bool reduces, in_place;
	bool cuts_input, cuts_output; /* into one block per rank */
} collectives[COLLECTIVE_COUNT] = {
	[ALL_REDUCE] = {"all_reduce", true, true, false, false},
	[REDUCE_SCATTER] = {"reduce_scatter", true, true, true, false},
	[ALL_GATHER] = {"all_gather", false, true, false, true},
	[BROADCAST] = {"broadcast", false, true, false, false},
	[ALLTOALL] = {"alltoall", false, false, true, true},
	[SENDRECV] = {"sendrecv", false, false, false, false},
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

int collective_blocks(enum collective_kind kind, int world)
{
	return collectives[kind].cuts_input ? world : 1;
}

struct extent collective_extent(enum collective_kind kind, uint64_t bytes, enum dtype type,
				int world)
{
	bool in = collectives[kind].cuts_input, out = collectives[kind].cuts_output;
	size_t count = bytes / dtype_bytes(type), ranks = (size_t)world;
	struct extent extent = {.count = count, .send = count, .recv = count};

	if (!in && !out)
		return extent;
	count = count / ranks & ~(BLOCK_BYTES / dtype_bytes(type) - 1);
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
		return others;
	case BROADCAST:
	case SENDRECV:
	case COLLECTIVE_COUNT:
		break;
	}
	return 1;
}

/*
 * Compares the @index-th block of the result, which comes from @source's input at element @first.
 */
static void check_block(const struct collective *call, const struct pattern *pattern, int index,
			int source, size_t first, const void *data, struct mismatch *found)
{
	const struct span span = {
		.source = source, .first = first, .at = (uint64_t)index * call->count};
	const unsigned char *block = data;

	pattern_check(pattern, &span, block + span.at * dtype_bytes(call->type), call->count,
		      found);
}

void collective_check(const struct collective *call, const struct pattern *pattern, int rank,
		      const void *data, struct mismatch *found)
{
	int world = pattern->world;
	size_t own = call->count * (size_t)rank;

	memset(found, 0, sizeof(*found));
	switch (call->kind) {
	case ALL_REDUCE:
	case COLLECTIVE_COUNT:
		check_block(call, pattern, 0, PATTERN_ALL, 0, data, found);
		break;
	case REDUCE_SCATTER:
		check_block(call, pattern, 0, PATTERN_ALL, own, data, found);
		break;
	case BROADCAST:
		check_block(call, pattern, 0, call->root, 0, data, found);
		break;
	case SENDRECV:
		check_block(call, pattern, 0, (rank + world - 1) % world, 0, data, found);
		break;
	case ALL_GATHER:
		for (int source = 0; source < world; source++)
			check_block(call, pattern, source, source, 0, data, found);
		break;
	case ALLTOALL:
		for (int source = 0; source < world; source++)
			check_block(call, pattern, source, source, own, data, found);
		break;
	}
}
