/* SPDX-License-Identifier: MIT */
#include "health/copies.h"

#define ROUNDS 3
#define COPIES 8 /* of a round */
#define MEMORY_BYTES (UINT64_C(512) << 20)
#define HOST_BYTES_EACH (UINT64_C(128) << 20)

/* One way of moving data, and what it needs. */
struct copies {
	struct card *card;
	cuda_address from, to;
	void *host;
	size_t bytes;
	int (*copy)(const struct copies *copies);
	const char *call;
	double factor; /* how often the bytes count */
};

static int copies_inside(const struct copies *c)
{
	return c->card->cuda.cuMemcpyDtoDAsync(c->to, c->from, c->bytes, c->card->stream);
}

static int copies_fill(const struct copies *c)
{
	return c->card->cuda.cuMemsetD32Async(c->to, 0x5aa55aa5, c->bytes / 4, c->card->stream);
}

static int copies_to_card(const struct copies *c)
{
	return c->card->cuda.cuMemcpyHtoDAsync(c->to, c->host, c->bytes, c->card->stream);
}

static int copies_from_card(const struct copies *c)
{
	return c->card->cuda.cuMemcpyDtoHAsync(c->host, c->to, c->bytes, c->card->stream);
}

/* One round before those that count: the memory is touched, the clocks come up. */
static int copies_time(const struct copies *c, double *gbps, struct failure *err)
{
	double seconds, best = 0;

	for (int round = 0; round <= ROUNDS; round++) {
		if (card_start_clock(c->card, err) < 0)
			return -1;
		for (int i = 0; i < COPIES; i++) {
			int code = c->copy(c);

			if (code != 0)
				return cuda_failed(&c->card->cuda, c->call, code, err);
		}
		if (card_stop_clock(c->card, &seconds, err) < 0)
			return -1;
		if (round > 0 && seconds > 0 && (best == 0 || seconds < best))
			best = seconds;
	}
	*gbps = best > 0 ? c->factor * COPIES * (double)c->bytes / best / 1e9 : 0;
	return 0;
}

static int copies_missing(struct failure *err)
{
	return failure_set(err, STATUS_GPU, -1, "",
			   "this libcuda.so.1 lacks what it needs: upgrade the driver");
}

/* No more than a quarter of what is free. */
static size_t copies_bytes(const struct card *card, size_t wanted)
{
	size_t left = 0, all = 0;

	if (!card->cuda.cuMemGetInfo || card->cuda.cuMemGetInfo(&left, &all) != 0)
		return wanted;
	left = left / 4 & ~(size_t)0xffff;
	return left < wanted ? left : wanted;
}

int copies_memory(struct card *card, double *copy_gbps, double *fill_gbps, struct failure *err)
{
	struct copies c = {.card = card, .bytes = copies_bytes(card, MEMORY_BYTES)};
	int code, rc;

	if (!card->cuda.cuMemcpyDtoDAsync || !card->cuda.cuMemsetD32Async)
		return copies_missing(err);
	code = card->cuda.cuMemAlloc(&c.from, c.bytes);
	if (code == 0)
		code = card->cuda.cuMemAlloc(&c.to, c.bytes);
	if (code != 0)
		return cuda_failed(&card->cuda, "cuMemAlloc", code, err);
	c.copy = copies_inside;
	c.call = "cuMemcpyDtoDAsync";
	c.factor = 2;
	rc = copies_time(&c, copy_gbps, err);
	c.copy = copies_fill;
	c.call = "cuMemsetD32Async";
	c.factor = 1;
	if (rc == 0)
		rc = copies_time(&c, fill_gbps, err);
	card->cuda.cuMemFree(c.from);
	card->cuda.cuMemFree(c.to);
	return rc;
}

int copies_host(struct card *card, double *to_gbps, double *from_gbps, struct failure *err)
{
	struct copies c = {.card = card, .factor = 1, .bytes = copies_bytes(card, HOST_BYTES_EACH)};
	int code, rc;

	if (!card->cuda.cuMemHostAlloc || !card->cuda.cuMemcpyHtoDAsync ||
	    !card->cuda.cuMemcpyDtoHAsync)
		return copies_missing(err);
	code = card->cuda.cuMemHostAlloc(&c.host, c.bytes, 0);
	if (code != 0)
		return cuda_failed(&card->cuda, "cuMemHostAlloc", code, err);
	code = card->cuda.cuMemAlloc(&c.to, c.bytes);
	if (code != 0)
		return cuda_failed(&card->cuda, "cuMemAlloc", code, err);
	c.copy = copies_to_card;
	c.call = "cuMemcpyHtoDAsync";
	rc = copies_time(&c, to_gbps, err);
	c.copy = copies_from_card;
	c.call = "cuMemcpyDtoHAsync";
	if (rc == 0)
		rc = copies_time(&c, from_gbps, err);
	card->cuda.cuMemFree(c.to); /* the pinned memory goes with the process */
	return rc;
}
