/* SPDX-License-Identifier: MIT */
#include "backend/cpu/ring_links.h"

#include <string.h>

#define RING_SMALL_BYTES 65536 /* up to here a vector goes to everybody as a whole */
#define RING_CRUMB_BYTES 65536 /* passed on no sooner than this much is there */

/* Two byte streams that run round the ring at the same time: pieces [0, sends) go to the next
 * leader, pieces [first, count) come from the one before. What comes is passed on as it comes, so
 * pieces [0, first) must be there at the start. Pieces [first, reduced) are reduced with what is
 * here of them, those from `scaled` on are then divided. */
struct flow {
	struct ring *ring;
	const struct piece *pieces;
	size_t count, first, sends, reduced, scaled;
	const unsigned char *src; /* pieces [0, first), and what is reduced */
	unsigned char *dst;	  /* what is received */
	enum dtype type;
	reduce_fn *reduce; /* NULL: nothing is reduced */
	int divisor;
	struct failure *err;

	/* as it runs */
	size_t send, recv;	 /* the pieces that are moving */
	size_t send_at, recv_at; /* bytes of them */
	size_t ready;		 /* bytes that may be sent and have not been */
	size_t carry;		 /* bytes of an incomplete element in the scratch */
};

/* What has come so far, as a number that grows: the place in piece or link @index. */
static uint64_t ring_done(size_t index, size_t at)
{
	return (uint64_t)index << 44 | at;
}

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

static int flow_run(struct flow *f)
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

/* Sends @out_bytes over link @link and receives @in_bytes at the same time. */
static int ring_exchange(struct ring *ring, int link, const unsigned char *out, size_t out_bytes,
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

/* Everybody's vector of @bytes to everybody: afterwards the one of leader me-j lies at place j of
 * `gathered`. */
static int ring_gather_small(struct ring *ring, const void *src, size_t bytes, struct failure *err)
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

/* The pieces of an all-reduce: segments me, me-1, ..., twice round without the last one. Returns
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

/* The collectives other than all-reduce. */
static int ring_ranks_of(const struct ring *ring, int leader)
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
		most = ring_ranks_of(ring, leader) > most ? ring_ranks_of(ring, leader) : most;
	return most;
}

/* Copies a leader's blocks between @vector, where they are in the order of the ranks, and @packed,
 * where they are together. */
static void ring_pack(const struct ring *ring, int leader, size_t block_bytes,
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
		ring_pack(ring, ring->me, block_bytes, vector, ring->scratch, false);
		if (ring_gather_small(ring, ring->scratch, each, err) < 0)
			return -1;
		for (int place = 1; place < ring->count; place++)
			ring_pack(ring, (ring->me - place + ring->count) % ring->count, block_bytes,
				  vector, ring->gathered + (size_t)place * each, true);
		return 0;
	}
	for (int step = 0; step < ring->count; step++)
		flow.count = add_blocks(ring, ring->me - step, block_bytes, flow.count);
	flow.first = (size_t)ring_ranks_of(ring, ring->me);
	flow.sends = flow.count - (size_t)ring_ranks_of(ring, (ring->me + 1) % ring->count);
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
	flow.first = (size_t)ring_ranks_of(ring, (ring->me - 1 + ring->count) % ring->count);
	flow.sends = flow.scaled = flow.count - (size_t)ring_ranks_of(ring, ring->me);
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
