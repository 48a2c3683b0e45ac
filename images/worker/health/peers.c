/* SPDX-License-Identifier: MIT */
#include "health/peers.h"
#include "health/copies.h"
#include "health/nvml_link.h"
#include "json.h"

#include <stdio.h>
#include <string.h>

#define COPIES 4 /* of a round */
#define PEER_BYTES (UINT64_C(64) << 20)
#define PEER_ALREADY_ENABLED 704 /* CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED */

/* One of the two cards. */
struct peer {
	int device;
	void *context;
	cuda_address memory;
};

/* A copy from one to the other; the stream is that of the first card. */
struct peers_copy {
	struct card *card;
	const struct peer *to, *from;
};

static int peers_queue(void *arg)
{
	const struct peers_copy *c = arg;

	return c->card->cuda.cuMemcpyPeerAsync(c->to->memory, c->to->context, c->from->memory,
					       c->from->context, PEER_BYTES, c->card->stream);
}

static int peers_time(struct card *card, const struct peer *to, const struct peer *from,
		      double *gbps, struct failure *err)
{
	struct peers_copy copy = {card, to, from};

	return copies_time(card,
			   &(struct copying){peers_queue, &copy, COPIES, (double)PEER_BYTES,
					     "cuMemcpyPeerAsync"},
			   gbps, err);
}

/* Memory on both cards, and access from each to the other's where there is a way. The first one's context is current
 * before and after. */
static int peers_open(struct card *card, struct peer *first, struct peer *second, int *direct,
		      struct failure *err)
{
	const struct cuda *cuda = &card->cuda;
	int there = 0, back = 0, code;

	*first = (struct peer){.device = card->cuda_device, .context = card->context};
	code = cuda->cuDeviceGetByPCIBusId(&second->device, card->shared->places[card->peer].bus);
	if (code == 0)
		code = cuda->cuDeviceCanAccessPeer(&there, first->device, second->device);
	if (code == 0)
		code = cuda->cuDeviceCanAccessPeer(&back, second->device, first->device);
	if (code == 0)
		code = cuda->cuMemAlloc(&first->memory, PEER_BYTES);
	if (code == 0)
		code = cuda->cuDevicePrimaryCtxRetain(&second->context, second->device);
	if (code == 0 && there)
		code = cuda->cuCtxEnablePeerAccess(second->context, 0);
	if (code == 0 || code == PEER_ALREADY_ENABLED)
		code = cuda->cuCtxSetCurrent(second->context);
	if (code == 0)
		code = cuda->cuMemAlloc(&second->memory, PEER_BYTES);
	if (code == 0 && back)
		code = cuda->cuCtxEnablePeerAccess(first->context, 0);
	if (code == 0 || code == PEER_ALREADY_ENABLED)
		code = cuda->cuCtxSetCurrent(first->context);
	*direct = there && back;
	return code == 0 ? 0 : cuda_failed(cuda, "the pair's contexts", code, err);
}

static int peers_copy(struct card *card, const char *link, double gbps[2], int *direct,
		      struct failure *err)
{
	struct peer first = {0}, second = {0};
	bool mine = false;
	int rc;

	if (card_open_cuda(card, err) < 0)
		return -1;
	if (!card->cuda.cuMemcpyPeerAsync || !card->cuda.cuDeviceCanAccessPeer ||
	    !card->cuda.cuCtxEnablePeerAccess || !card->cuda.cuDeviceGetByPCIBusId)
		return failure_set(err, STATUS_GPU, -1, "",
				   "this libcuda.so.1 lacks what it needs: upgrade the driver");
	if (peers_open(card, &first, &second, direct, err) < 0)
		return -1;
	if (strncmp(link, "NV", 2) != 0)
		mine = card_take_turn(card);
	rc = peers_time(card, &second, &first, &gbps[0], err);
	if (rc == 0)
		rc = peers_time(card, &first, &second, &gbps[1], err);
	if (mine)
		card_end_turn(card);
	return rc; /* the memory goes with the process */
}

void peers_measure(struct card *card)
{
	struct failure err = {.status = STATUS_PASS};
	double gbps[2] = {0, 0};
	struct card_line line;
	char link[NVML_LINK_BYTES] = "";
	void *peer = NULL;
	int direct = 0, rc;

	card->shared->places[card->number].phase = HEALTH_PEER;
	if (nvml_open(&card->nvml, &err) == 0 &&
	    card->nvml.nvmlDeviceGetHandleByIndex((unsigned)card->number, &card->device) == 0 &&
	    card->nvml.nvmlDeviceGetHandleByIndex((unsigned)card->peer, &peer) == 0)
		nvml_link_name(nvml_link(&card->nvml, card->device, peer,
					 card->shared->places[card->peer].bus),
			       link);
	err = (struct failure){.status = STATUS_PASS};
	rc = peers_copy(card, link, gbps, &direct, &err);
	card_begin(card, &line);
	fprintf(line.to, ", \"peer\": %d, \"link\": \"%s\"", card->peer, link);
	if (rc < 0) {
		fputs(", \"error\": ", line.to);
		json_write(line.to, err.reason);
	} else {
		fprintf(line.to, ", \"to_gbps\": %.2f, \"from_gbps\": %.2f, \"direct\": %s",
			gbps[0], gbps[1], direct ? "true" : "false");
	}
	card_end(card, &line);
	card->shared->places[card->number].phase = HEALTH_DONE;
}
