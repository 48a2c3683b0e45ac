/* SPDX-License-Identifier: MIT */
#include "bench/contents.h"

#include <stdlib.h>
#include <string.h>

void contents_init(struct contents *c, const struct backend *backend, void *state, uint64_t bytes,
		   bool checks)
{
	*c = (struct contents){.backend = backend, .state = state};
	if (!checks || !backend->put)
		return;
	c->on_device = backend->verifies && backend->verifies(state);
	if (c->on_device)
		return;
	c->host = malloc(bytes);
	if (!c->host)
		abort();
}

void contents_release(struct contents *c)
{
	free(c->host);
}

static int contents_fill_device(const struct contents *c, const struct collective *call,
				const struct extent *extent, const struct pattern *pattern,
				int rank, struct failure *err)
{
	_Alignas(8) unsigned char period[PATTERN_PERIOD * ELEMENT_BYTES_MAX];
	size_t bytes = dtype_bytes(call->type), sent = extent->send;

	memset(period, 0xff, sizeof(period));
	if (c->backend->fill(c->state, call->dst, period, bytes, extent->recv, err) < 0)
		return -1;
	pattern_fill(pattern, rank, period, sent < PATTERN_PERIOD ? sent : PATTERN_PERIOD);
	return c->backend->fill(c->state, (void *)(uintptr_t)call->src, period, bytes, sent, err);
}

int contents_fill(const struct contents *c, const struct collective *call,
		  const struct extent *extent, const struct pattern *pattern, int rank,
		  struct failure *err)
{
	size_t sent = extent->send * dtype_bytes(call->type),
	       received = extent->recv * dtype_bytes(call->type);
	void *input = (void *)(uintptr_t)call->src;

	if (c->on_device)
		return contents_fill_device(c, call, extent, pattern, rank, err);
	memset(c->host ? c->host : call->dst, 0xff, received);
	if (c->host && c->backend->put(c->state, call->dst, c->host, received, err) < 0)
		return -1;
	pattern_fill(pattern, rank, c->host ? c->host : input, extent->send);
	return c->host ? c->backend->put(c->state, input, c->host, sent, err) : 0;
}

int contents_await(const struct contents *c, const struct collective *call,
		   const struct extent *extent, struct failure *err)
{
	unsigned char nothing;

	if (!c->backend->get)
		return 0;
	return c->host ? c->backend->get(c->state, c->host, call->dst,
					 extent->recv * dtype_bytes(call->type), err)
		       : c->backend->get(c->state, &nothing, call->dst, 0, err);
}

int contents_corrupt(const struct contents *c, const struct collective *call,
		     const struct extent *extent, struct failure *err)
{
	size_t at = extent->recv / 2 * dtype_bytes(call->type);
	unsigned char byte, *output = call->dst;

	if (extent->recv == 0)
		return 0;
	if (!c->on_device) {
		(c->host ? c->host : output)[at] ^= 1;
		return 0;
	}
	if (c->backend->get(c->state, &byte, output + at, 1, err) < 0)
		return -1;
	byte ^= 1;
	return c->backend->put(c->state, output + at, &byte, 1, err);
}

static int contents_compare(void *arg, const struct bounds *bounds, const void *data, size_t count,
			    struct difference *difference, struct failure *err)
{
	const struct contents *c = arg;

	return c->backend->compare(c->state, data, bounds, count, difference, err);
}

int contents_check(const struct contents *c, const struct collective *call,
		   const struct pattern *pattern, int rank, struct mismatch *found,
		   struct failure *err)
{
	const struct comparer on_device = {contents_compare, (void *)(uintptr_t)c};

	return collective_check(call, pattern, rank, c->on_device ? &on_device : &pattern_on_host,
				c->host ? c->host : call->dst, found, err);
}
