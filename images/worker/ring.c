/* SPDX-License-Identifier: MIT */
#include "ring_internal.h"

#include <string.h>

/* How much of the current piece may be sent: what was there at the start, then only what has been
 * received. Crumbs wait for more: the end of a piece is never one. */
static size_t sendable(const struct flow *f)
{
	size_t left;

	if (f->send == f->sends)
		return 0;
	left = f->pieces[f->send].bytes - f->send_at;
	if (f->ready >= left)
		return left;
	return f->ready >= RING_CRUMB_BYTES ? f->ready : 0;
}

static ssize_t flow_send(struct flow *f)
{
	size_t ready = sendable(f);
	const unsigned char *from = f->send < f->first ? f->src : f->dst;
	ssize_t sent;

	if (ready == 0)
		return 0;
	sent = net_send_some(f->ring->out[0], from + f->pieces[f->send].at + f->send_at, ready);
	if (sent < 0)
		return ring_lost(f->ring, 0, true, (int)-sent, f->err);
	f->ready -= (size_t)sent;
	f->send_at += (size_t)sent;
	return sent;
}

/* @bytes of the current piece are complete. */
static void flow_got(struct flow *f, size_t bytes)
{
	if (f->recv < f->sends)
		f->ready += bytes;
	f->recv_at += bytes;
}

/* Reduces the whole elements of the scratch at @at of the vector and keeps the rest. */
static void take_elements(struct flow *f, size_t at, size_t bytes)
{
	size_t element_bytes = dtype_bytes(f->type), elements = bytes / element_bytes,
	       whole = elements * element_bytes;

	f->reduce(f->dst + at, f->src + at, f->ring->scratch, elements);
	if (f->divisor > 1 && f->recv >= f->scaled)
		dtype_scale(f->type, f->dst + at, elements, f->divisor);
	f->carry = bytes - whole;
	memmove(f->ring->scratch, f->ring->scratch + whole, f->carry);
	flow_got(f, whole);
}

static ssize_t flow_recv(struct flow *f)
{
	const struct piece *piece = &f->pieces[f->recv];
	bool reducing = f->recv < f->reduced;
	size_t left = piece->bytes - f->recv_at - f->carry;
	unsigned char *to =
		reducing ? f->ring->scratch + f->carry : f->dst + piece->at + f->recv_at;
	ssize_t got;

	if (left == 0)
		return 0;
	if (left > RING_CHUNK_BYTES - f->carry)
		left = RING_CHUNK_BYTES - f->carry;
	got = net_recv_some(f->ring->in[0], to, left);
	if (got < 0)
		return ring_lost(f->ring, 0, false, (int)-got, f->err);
	if (reducing && got > 0)
		take_elements(f, piece->at + f->recv_at, f->carry + (size_t)got);
	else
		flow_got(f, (size_t)got);
	return got;
}

/* Goes to the next piece of each stream whose piece is complete. */
static void flow_turn(struct flow *f)
{
	while (f->send < f->sends && f->send_at == f->pieces[f->send].bytes) {
		f->send++;
		f->send_at = 0;
	}
	while (f->recv < f->count && f->recv_at == f->pieces[f->recv].bytes) {
		f->recv++;
		f->recv_at = 0;
	}
}

int flow_run(struct flow *f)
{
	int idle = 0;

	f->recv = f->first;
	for (size_t i = 0; i < f->first && i < f->sends; i++)
		f->ready += f->pieces[i].bytes;
	flow_turn(f);
	while (f->send < f->sends || f->recv < f->count) {
		ssize_t sent = 0, got = 0;

		if (f->send < f->sends)
			sent = flow_send(f);
		if (sent >= 0 && f->recv < f->count)
			got = flow_recv(f);
		if (sent < 0 || got < 0)
			return -1;
		flow_turn(f);
		if (sent > 0 || got > 0)
			idle = 0;
		else if (ring_wait(f->ring, 0, sendable(f) > 0, f->recv < f->count,
				   ring_done(f->recv, f->recv_at), &idle) < 0)
			return -1;
	}
	return 0;
}

int ring_exchange(struct ring *ring, int link, const unsigned char *out, size_t out_bytes,
		  unsigned char *in, size_t in_bytes, struct failure *err)
{
	size_t sent = 0, received = 0;
	int idle = 0;

	while (sent < out_bytes || received < in_bytes) {
		ssize_t out_now = 0, in_now = 0;

		if (sent < out_bytes)
			out_now = net_send_some(ring->out[link], out + sent, out_bytes - sent);
		if (received < in_bytes)
			in_now = net_recv_some(ring->in[link], in + received, in_bytes - received);
		if (out_now < 0)
			return ring_lost(ring, link, true, (int)-out_now, err);
		if (in_now < 0)
			return ring_lost(ring, link, false, (int)-in_now, err);
		sent += (size_t)out_now;
		received += (size_t)in_now;
		if (out_now > 0 || in_now > 0)
			idle = 0;
		else if (ring_wait(ring, link, sent < out_bytes, received < in_bytes,
				   ring_done((size_t)link, received), &idle) < 0)
			return -1;
	}
	return 0;
}

int ring_gather_small(struct ring *ring, const void *src, size_t bytes, struct failure *err)
{
	memcpy(ring->gathered, src, bytes);
	for (int link = 0; link < ring->links; link++) {
		int have = 1 << link, more = ring->count - have < have ? ring->count - have : have;
		size_t now = (size_t)more * bytes;

		if (ring_exchange(ring, link, ring->gathered, now,
				  ring->gathered + (size_t)have * bytes, now, err) < 0)
			return -1;
	}
	return 0;
}

static int allreduce_small(struct ring *ring, const void *src, void *dst, size_t count,
			   enum dtype type, enum op op, struct failure *err)
{
	reduce_fn *reduce = dtype_reducer(type, op);
	size_t bytes = count * dtype_bytes(type);

	if (ring_gather_small(ring, src, bytes, err) < 0)
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

/* The pieces of an all-reduce: segments me, me-1, ..., twice round but for the last one. Returns
 * their number. Segments are whole cache lines. */
static size_t cut(struct ring *ring, size_t count, size_t element_bytes)
{
	size_t leaders = (size_t)ring->count, line = 64 / element_bytes,
	       lines = (count + line - 1) / line, each = (lines + leaders - 1) / leaders * line;

	for (size_t i = 0; i < 2 * leaders - 1; i++) {
		size_t index = ((size_t)ring->me + 2 * leaders - i) % leaders;
		size_t begin = each * index, end = begin + each;

		begin = begin < count ? begin : count;
		end = end < count ? end : count;
		ring->pieces[i] =
			(struct piece){begin * element_bytes, (end - begin) * element_bytes};
	}
	return 2 * leaders - 1;
}

int ring_allreduce(struct ring *ring, const void *src, void *dst, size_t count, enum dtype type,
		   enum op op, int divisor, struct failure *err)
{
	size_t leaders = (size_t)ring->count;
	struct flow flow = {.ring = ring,
			    .pieces = ring->pieces,
			    .first = 1,
			    .reduced = leaders,
			    .scaled = leaders - 1,
			    .src = src,
			    .dst = dst,
			    .type = type,
			    .reduce = dtype_reducer(type, op),
			    .divisor = divisor,
			    .err = err};

	if (!ring_is_small(ring->count, count * dtype_bytes(type))) {
		flow.count = cut(ring, count, dtype_bytes(type));
		flow.sends = flow.count - 1;
		return flow_run(&flow);
	}
	if (allreduce_small(ring, src, dst, count, type, op, err) < 0)
		return -1;
	if (divisor > 1)
		dtype_scale(type, dst, count, divisor);
	return 0;
}
