/* SPDX-License-Identifier: MIT */
#include "health/copies.h"

#define ROUNDS 3
#define COPIES 8 /* of a round */
#define MEMORY_BYTES (UINT64_C(512) << 20)
#define HOST_BYTES_EACH (UINT64_C(128) << 20)

/* What lies where. */
struct copies {
	struct card *card;
	cuda_address from, to;
	void *host;
	size_t bytes;
};

static int copies_inside(void *arg)
{
	const struct copies *c = arg;

	return c->card->cuda.cuMemcpyDtoDAsync(c->to, c->from, c->bytes, c->card->stream);
}

static int copies_fill(void *arg)
{
	const struct copies *c = arg;

	return c->card->cuda.cuMemsetD32Async(c->to, 0x5aa55aa5, c->bytes / 4, c->card->stream);
}

static int copies_to_card(void *arg)
{
	const struct copies *c = arg;

	return c->card->cuda.cuMemcpyHtoDAsync(c->to, c->host, c->bytes, c->card->stream);
}

static int copies_from_card(void *arg)
{
	const struct copies *c = arg;

	return c->card->cuda.cuMemcpyDtoHAsync(c->host, c->to, c->bytes, c->card->stream);
}

int copies_time(struct card *card, const struct copying *copying, double *gbps, struct failure *err)
{
	double seconds, best = 0;

	/* one round before those that count: the memory is touched, the clocks come up */
	for (int round = 0; round <= ROUNDS; round++) {
		if (card_start_clock(card, err) < 0)
			return -1;
		for (int i = 0; i < copying->copies; i++) {
			int code = copying->queue(copying->arg);

			if (code != 0)
				return cuda_failed(&card->cuda, copying->call, code, err);
		}
		if (card_stop_clock(card, &seconds, err) < 0)
			return -1;
		if (round > 0 && seconds > 0 && (best == 0 || seconds < best))
			best = seconds;
	}
	*gbps = best > 0 ? copying->copies * copying->bytes / best / 1e9 : 0;
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
	rc = copies_time(card,
			 &(struct copying){copies_inside, &c, COPIES, 2.0 * (double)c.bytes,
					   "cuMemcpyDtoDAsync"},
			 copy_gbps, err);
	if (rc == 0)
		rc = copies_time(card,
				 &(struct copying){copies_fill, &c, COPIES, (double)c.bytes,
						   "cuMemsetD32Async"},
				 fill_gbps, err);
	card->cuda.cuMemFree(c.from);
	card->cuda.cuMemFree(c.to);
	return rc;
}

int copies_host(struct card *card, double *to_gbps, double *from_gbps, struct failure *err)
{
	struct copies c = {.card = card, .bytes = copies_bytes(card, HOST_BYTES_EACH)};
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
	rc = copies_time(
		card,
		&(struct copying){copies_to_card, &c, COPIES, (double)c.bytes, "cuMemcpyHtoDAsync"},
		to_gbps, err);
	if (rc == 0)
		rc = copies_time(card,
				 &(struct copying){copies_from_card, &c, COPIES, (double)c.bytes,
						   "cuMemcpyDtoHAsync"},
				 from_gbps, err);
	card->cuda.cuMemFree(c.to); /* the pinned memory goes with the process */
	return rc;
}
