/* SPDX-License-Identifier: MIT */
/* The collectives other than all-reduce over TCP. */
#include "ring_internal.h"

#include <string.h>

static int ring_collective_number_of(const struct ring *ring, int leader)
{
	return ring->begin[leader + 1] - ring->begin[leader];
}

/* Adds the blocks of a leader's ranks to the pieces; returns the new number of pieces. */
static size_t add_blocks(struct ring *ring, int leader, size_t block_bytes, size_t count)
{
	leader = (leader % ring->count + ring->count) % ring->count;
	for (int i = ring->begin[leader]; i < ring->begin[leader + 1]; i++)
		ring->pieces[count++] =
			(struct piece){(size_t)ring->order[i] * block_bytes, block_bytes};
	return count;
}

static int most_ranks(const struct ring *ring)
{
	int most = 0;

	for (int leader = 0; leader < ring->count; leader++)
		most = ring_collective_number_of(ring, leader) > most
			       ? ring_collective_number_of(ring, leader)
			       : most;
	return most;
}

/* Copies a leader's blocks between @vector, where they are in the order of the ranks, and @packed,
 * where they are together. */
static void ring_collective_pack(const struct ring *ring, int leader, size_t block_bytes,
				 unsigned char *vector, unsigned char *packed, bool unpack)
{
	for (int i = ring->begin[leader]; i < ring->begin[leader + 1]; i++) {
		unsigned char *block = vector + (size_t)ring->order[i] * block_bytes;

		memcpy(unpack ? block : packed, unpack ? packed : block, block_bytes);
		packed += block_bytes;
	}
}

int ring_allgather(struct ring *ring, void *vector, size_t block_bytes, struct failure *err)
{
	struct flow flow = {
		.ring = ring, .pieces = ring->pieces, .dst = vector, .src = vector, .err = err};
	size_t each = (size_t)most_ranks(ring) * block_bytes;

	if (ring_is_small(ring->count, each)) {
		ring_collective_pack(ring, ring->me, block_bytes, vector, ring->scratch, false);
		if (ring_gather_small(ring, ring->scratch, each, err) < 0)
			return -1;
		for (int place = 1; place < ring->count; place++)
			ring_collective_pack(ring, (ring->me - place + ring->count) % ring->count,
					     block_bytes, vector,
					     ring->gathered + (size_t)place * each, true);
		return 0;
	}
	for (int step = 0; step < ring->count; step++)
		flow.count = add_blocks(ring, ring->me - step, block_bytes, flow.count);
	flow.first = (size_t)ring_collective_number_of(ring, ring->me);
	flow.sends =
		flow.count - (size_t)ring_collective_number_of(ring, (ring->me + 1) % ring->count);
	return flow_run(&flow);
}

int ring_reduce_scatter(struct ring *ring, const void *src, void *vector, size_t block_count,
			enum dtype type, enum op op, int divisor, struct failure *err)
{
	size_t block_bytes = block_count * dtype_bytes(type), all = (size_t)ring->group->world;
	struct flow flow = {.ring = ring,
			    .pieces = ring->pieces,
			    .src = src,
			    .dst = vector,
			    .type = type,
			    .reduce = dtype_reducer(type, op),
			    .divisor = divisor,
			    .err = err};

	if (ring_is_small(ring->count, all * block_bytes))
		return ring_allreduce(ring, src, vector, all * block_count, type, op, divisor, err);
	for (int step = 1; step <= ring->count; step++)
		flow.count = add_blocks(ring, ring->me - step, block_bytes, flow.count);
	flow.first =
		(size_t)ring_collective_number_of(ring, (ring->me - 1 + ring->count) % ring->count);
	flow.sends = flow.scaled = flow.count - (size_t)ring_collective_number_of(ring, ring->me);
	flow.reduced = flow.count;
	return flow_run(&flow);
}

/* Who has the data after a round are the leaders up to 2^round away from the root; each sends it as
 * far again. */
static int broadcast_tree(struct ring *ring, unsigned char *vector, size_t bytes, int root,
			  struct failure *err)
{
	int place = (ring->me - root + ring->count) % ring->count;

	for (int link = 0; link < ring->links; link++) {
		int reach = 1 << link;
		bool sends = place < reach && place + reach < ring->count,
		     receives = place >= reach && place < 2 * reach;

		if ((sends || receives) && ring_exchange(ring, link, vector, sends ? bytes : 0,
							 vector, receives ? bytes : 0, err) < 0)
			return -1;
	}
	return 0;
}

bool ring_is_tree(size_t bytes)
{
	return bytes <= RING_SMALL_BYTES;
}

int ring_broadcast(struct ring *ring, void *vector, size_t bytes, int root, struct failure *err)
{
	struct piece whole = {0, bytes};
	struct flow flow = {.ring = ring,
			    .pieces = &whole,
			    .count = 1,
			    .first = ring->me == root,
			    .sends = (ring->me + 1) % ring->count != root,
			    .src = vector,
			    .dst = vector,
			    .err = err};

	if (ring_is_tree(bytes))
		return broadcast_tree(ring, vector, bytes, root, err);
	return flow_run(&flow);
}
