/* SPDX-License-Identifier: MIT */
#include "ring_internal.h"

#include <string.h>

/* The two byte streams of one ring all-reduce. Step s sends segment me-s and receives segment
 * me-1-s. */
struct flow {
	struct ring *ring;
	const unsigned char *src;
	unsigned char *dst;
	size_t count, element_bytes, segment; /* elements per segment */
	enum dtype type;
	reduce_fn *reduce;
	int divisor;
	int steps; /* of each stream */
	int send_step, recv_step;
	size_t send_at, recv_at; /* bytes of the current segment */
	size_t sent, received;	 /* bytes in all */
	size_t carry;		 /* bytes of an incomplete element in the scratch */
	struct failure *err;
};

static size_t segment_begin(const struct flow *f, int index)
{
	size_t begin = f->segment * (size_t)index;

	return (begin < f->count ? begin : f->count) * f->element_bytes;
}

/* Byte range of the segment that @step moves, @shift 0 for sending and 1 for receiving. */
static size_t segment_of(const struct flow *f, int step, int shift, size_t *bytes)
{
	int count = f->ring->count, index = ((f->ring->me - shift - step) % count + count) % count;
	size_t begin = segment_begin(f, index);

	*bytes = segment_begin(f, index + 1) - begin;
	return begin;
}

/* How much of the current segment may be sent: of the first all, then only what has been received.
 * Crumbs wait for more: the end of a segment is never one. */
static size_t sendable(const struct flow *f)
{
	size_t first, bytes, left, ready;

	if (f->send_step == f->steps)
		return 0;
	segment_of(f, 0, 0, &first);
	segment_of(f, f->send_step, 0, &bytes);
	ready = first + f->received - f->sent;
	left = bytes - f->send_at;
	if (ready >= left)
		return left;
	return ready >= RING_CRUMB_BYTES ? ready : 0;
}

static ssize_t flow_send(struct flow *f)
{
	size_t bytes, begin = segment_of(f, f->send_step, 0, &bytes), ready = sendable(f);
	const unsigned char *from = f->send_step == 0 ? f->src : f->dst;
	ssize_t sent;

	if (ready == 0)
		return 0;
	sent = net_send_some(f->ring->out[0], from + begin + f->send_at, ready);
	if (sent < 0)
		return ring_lost(f->ring, 0, true, (int)-sent, f->err);
	f->sent += (size_t)sent;
	f->send_at += (size_t)sent;
	return sent;
}

/* Reduces the whole elements of the scratch at @at of the vector and keeps the rest. */
static void take_elements(struct flow *f, size_t at, size_t bytes)
{
	size_t elements = bytes / f->element_bytes, whole = elements * f->element_bytes;

	f->reduce(f->dst + at, f->src + at, f->ring->scratch, elements);
	if (f->divisor > 1 && f->recv_step == f->ring->count - 2)
		dtype_scale(f->type, f->dst + at, elements, f->divisor);
	f->carry = bytes - whole;
	memmove(f->ring->scratch, f->ring->scratch + whole, f->carry);
	f->received += whole;
	f->recv_at += whole;
}

static ssize_t flow_recv(struct flow *f)
{
	bool reducing = f->recv_step < f->ring->count - 1;
	size_t bytes, begin = segment_of(f, f->recv_step, 1, &bytes);
	size_t left = bytes - f->recv_at - f->carry;
	unsigned char *to = reducing ? f->ring->scratch + f->carry : f->dst + begin + f->recv_at;
	ssize_t got;

	if (left == 0)
		return 0;
	if (left > RING_CHUNK_BYTES - f->carry)
		left = RING_CHUNK_BYTES - f->carry;
	got = net_recv_some(f->ring->in[0], to, left);
	if (got < 0)
		return ring_lost(f->ring, 0, false, (int)-got, f->err);
	if (reducing && got > 0) {
		take_elements(f, begin + f->recv_at, f->carry + (size_t)got);
	} else {
		f->received += (size_t)got;
		f->recv_at += (size_t)got;
	}
	return got;
}

/* Goes to the next step of each stream whose segment is complete. */
static void flow_turn(struct flow *f)
{
	size_t bytes;

	while (f->send_step < f->steps &&
	       (segment_of(f, f->send_step, 0, &bytes), f->send_at == bytes)) {
		f->send_step++;
		f->send_at = 0;
	}
	while (f->recv_step < f->steps &&
	       (segment_of(f, f->recv_step, 1, &bytes), f->recv_at == bytes)) {
		f->recv_step++;
		f->recv_at = 0;
	}
}

static int flow_run(struct flow *f)
{
	int idle = 0;

	flow_turn(f);
	while (f->send_step < f->steps || f->recv_step < f->steps) {
		ssize_t sent = 0, got = 0;

		if (f->send_step < f->steps)
			sent = flow_send(f);
		if (sent >= 0 && f->recv_step < f->steps)
			got = flow_recv(f);
		if (sent < 0 || got < 0)
			return -1;
		flow_turn(f);
		if (sent > 0 || got > 0)
			idle = 0;
		else if (ring_wait(f->ring, 0, sendable(f) > 0, f->recv_step < f->steps, &idle) < 0)
			return -1;
	}
	return 0;
}

/* Sends and receives @bytes over link @link at the same time. */
static int exchange(struct ring *ring, int link, const unsigned char *out, unsigned char *in,
		    size_t bytes, struct failure *err)
{
	size_t sent = 0, received = 0;
	int idle = 0;

	while (sent < bytes || received < bytes) {
		ssize_t out_now =
			sent < bytes ? net_send_some(ring->out[link], out + sent, bytes - sent) : 0;
		ssize_t in_now = received < bytes ? net_recv_some(ring->in[link], in + received,
								  bytes - received)
						  : 0;

		if (out_now < 0)
			return ring_lost(ring, link, true, (int)-out_now, err);
		if (in_now < 0)
			return ring_lost(ring, link, false, (int)-in_now, err);
		sent += (size_t)out_now;
		received += (size_t)in_now;
		if (out_now > 0 || in_now > 0)
			idle = 0;
		else if (ring_wait(ring, link, sent < bytes, received < bytes, &idle) < 0)
			return -1;
	}
	return 0;
}

/* Everybody's vector to everybody: afterwards the one of leader me-j lies at place j. */
static int gather_small(struct ring *ring, const void *src, size_t bytes, struct failure *err)
{
	memcpy(ring->gathered, src, bytes);
	for (int link = 0; link < ring->links; link++) {
		int have = 1 << link, more = ring->count - have < have ? ring->count - have : have;

		if (exchange(ring, link, ring->gathered, ring->gathered + (size_t)have * bytes,
			     (size_t)more * bytes, err) < 0)
			return -1;
	}
	return 0;
}

static int allreduce_small(struct ring *ring, const void *src, void *dst, size_t count,
			   enum dtype type, enum op op, struct failure *err)
{
	reduce_fn *reduce = dtype_reducer(type, op);
	size_t bytes = count * dtype_bytes(type);

	if (gather_small(ring, src, bytes, err) < 0)
		return -1;
	for (int leader = 0; leader < ring->count; leader++) {
		int place = (ring->me - leader + ring->count) % ring->count;
		const unsigned char *vector = ring->gathered + (size_t)place * bytes;

		if (leader == 0)
			memcpy(ring->scratch, vector, bytes);
		else
			reduce(ring->scratch, ring->scratch, vector, count);
	}
	memcpy(dst, ring->scratch, bytes);
	return 0;
}

bool ring_is_small(int count, size_t bytes)
{
	return bytes <= RING_SMALL_BYTES && bytes * (size_t)count <= RING_GATHER_BYTES;
}

int ring_allreduce(struct ring *ring, const void *src, void *dst, size_t count, enum dtype type,
		   enum op op, int divisor, struct failure *err)
{
	size_t bytes = count * dtype_bytes(type), line = 64 / dtype_bytes(type);
	size_t lines = (count + line - 1) / line;
	struct flow flow = {.ring = ring,
			    .src = src,
			    .dst = dst,
			    .count = count,
			    .element_bytes = dtype_bytes(type),
			    .segment =
				    (lines + (size_t)ring->count - 1) / (size_t)ring->count * line,
			    .type = type,
			    .reduce = dtype_reducer(type, op),
			    .divisor = divisor,
			    .steps = 2 * (ring->count - 1),
			    .err = err};

	if (!ring_is_small(ring->count, bytes))
		return flow_run(&flow);
	if (allreduce_small(ring, src, dst, count, type, op, err) < 0)
		return -1;
	if (divisor > 1)
		dtype_scale(type, dst, count, divisor);
	return 0;
}
