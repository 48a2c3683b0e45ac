/* SPDX-License-Identifier: MIT */
/* The collectives other than all-reduce in shared memory. */
#include "shm_internal.h"

#include <string.h>

static size_t block_bytes(const struct collective *call)
{
	return call->count * dtype_bytes(call->type);
}

static size_t input_bytes(const struct shm *shm, const struct collective *call)
{
	return block_bytes(call) * (size_t)collective_blocks(call->kind, shm->group->world);
}

/* Neighbour @index's input. In place it is where the call's is here, but for an all-gather, where
 * each rank's input is its own block. */
static const unsigned char *input_of(const struct shm *shm, const struct collective *call,
				     int index)
{
	bool second = call->src != shm_buffer(shm, 0);
	size_t offset = 0;

	if (second && call->kind == ALL_GATHER)
		offset = (size_t)shm->ranks[index] * block_bytes(call);
	return (unsigned char *)shm_buffer_of(shm, index, second) + offset;
}

static void shm_collective_copy(void *to, const void *from, size_t bytes, bool stream)
{
	if (to == from)
		return;
	if (stream)
		shm_stream_copy(to, from, bytes);
	else
		memcpy(to, from, bytes);
}

/* Copies what this rank gets from the @input of @source. */
static void shm_collective_take(const struct shm *shm, const struct collective *call, int source,
				const unsigned char *input, bool stream)
{
	const struct group *group = shm->group;
	size_t bytes = block_bytes(call);
	unsigned char *dst = call->dst;

	stream = stream && bytes * (size_t)shm->count >= shm->stream_bytes;
	switch (call->kind) {
	case ALL_GATHER:
		shm_collective_copy(dst + (size_t)source * bytes, input, bytes, stream);
		break;
	case ALLTOALL:
		shm_collective_copy(dst + (size_t)source * bytes,
				    input + (size_t)group->rank * bytes, bytes, stream);
		break;
	case BROADCAST:
		if (source == call->root)
			shm_collective_copy(dst, input, bytes, stream);
		break;
	case SENDRECV:
		if ((source + 1) % group->world == group->rank)
			shm_collective_copy(dst, input, bytes, stream);
		break;
	case ALL_REDUCE:
	case REDUCE_SCATTER:
	case COLLECTIVE_COUNT:
		break;
	}
}

void shm_take(const struct shm *shm, const struct collective *call, int index)
{
	shm_collective_take(shm, call, shm->ranks[index], input_of(shm, call, index), true);
}

void shm_bring(const struct shm *shm, const struct collective *call, int index, void *dst)
{
	shm_collective_copy(dst, input_of(shm, call, index), input_bytes(shm, call), false);
}

int shm_enter(struct shm *shm)
{
	shm_post_flag(shm, SHM_READY);
	return shm_await_all(shm, SHM_READY);
}

int shm_leave(struct shm *shm)
{
	shm_stream_end();
	shm_post_flag(shm, SHM_DONE);
	return shm_await_all(shm, SHM_DONE);
}

/* Reduces @count elements at @offset (bytes) of everybody's block for this rank. */
static void shm_collective_reduce_block(const struct shm *shm, const struct collective *call,
					size_t offset, size_t count, int divisor)
{
	reduce_fn *reduce = dtype_reducer(call->type, call->op);
	size_t own = (size_t)shm->group->rank * block_bytes(call) + offset;

	reduce(shm->scratch, input_of(shm, call, 0) + own, input_of(shm, call, 1) + own, count);
	for (int i = 2; i < shm->count; i++)
		reduce(shm->scratch, shm->scratch, input_of(shm, call, i) + own, count);
	if (divisor > 1)
		dtype_scale(call->type, shm->scratch, count, divisor);
	memcpy((unsigned char *)call->dst + offset, shm->scratch, count * dtype_bytes(call->type));
}

static void take_all(const struct shm *shm, const struct collective *call, int divisor)
{
	size_t element_bytes = dtype_bytes(call->type), most = SHM_BLOCK_BYTES / element_bytes;

	if (call->kind != REDUCE_SCATTER) {
		for (int i = 0; i < shm->count; i++)
			shm_take(shm, call, (shm->me + i) % shm->count);
		return;
	}
	for (size_t at = 0; at < call->count; at += most)
		shm_collective_reduce_block(shm, call, at * element_bytes,
					    call->count - at < most ? call->count - at : most,
					    divisor);
}

/* All inputs through the slots. Everybody waits for everybody, also where it takes nothing from
 * him: then a slot may be written again in the operation after the next one. */
static int through_slots(struct shm *shm, const struct collective *call, int divisor)
{
	struct line *own = &shm->areas[shm->me]->slots[shm->sequence & 1];
	size_t bytes = block_bytes(call), mine = (size_t)shm->group->rank * bytes;
	reduce_fn *reduce = dtype_reducer(call->type, call->op);

	memcpy(own->data, call->src, input_bytes(shm, call));
	shm_post(&own->value, &own->sleepers, shm->sequence);
	for (int i = 0; i < shm->count; i++) {
		struct line *slot = &shm->areas[i]->slots[shm->sequence & 1];

		if (i != shm->me && shm_await(shm, i, &slot->value, &slot->sleepers) < 0)
			return -1;
		shm_collective_take(shm, call, shm->ranks[i], slot->data, false);
		if (call->kind == REDUCE_SCATTER && i == 0)
			memcpy(shm->scratch, slot->data + mine, bytes);
		else if (call->kind == REDUCE_SCATTER)
			reduce(shm->scratch, shm->scratch, slot->data + mine, call->count);
	}
	if (call->kind != REDUCE_SCATTER)
		return 0;
	if (divisor > 1)
		dtype_scale(call->type, shm->scratch, call->count, divisor);
	memcpy(call->dst, shm->scratch, bytes);
	return 0;
}

int shm_collective(struct shm *shm, const struct collective *call, int divisor)
{
	if (input_bytes(shm, call) <= SHM_SMALL_BYTES)
		return through_slots(shm, call, divisor);
	if (shm_enter(shm) < 0)
		return -1;
	take_all(shm, call, divisor);
	return shm_leave(shm);
}
