/* SPDX-License-Identifier: MIT */
#include "health/peers.h"
#include "health/copies.h"
#include "json.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define COPIES 4 /* of a round */
#define PEER_BYTES (UINT64_C(64) << 20)
#define LINKS_MAX 36
#define CAPS_NVLINK 2		 /* NVML_P2P_CAPS_INDEX_NVLINK of nvml.h */
#define PEER_ALREADY_ENABLED 704 /* CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED */

/* One of the two cards. */
struct peer {
	int device;
	void *context;
	cuda_address memory;
};

static int peers_count_links(const struct card *card)
{
	const char *bus = card->shared->places[card->peer].bus;
	const struct nvml *nvml = &card->nvml;
	int all = 0, direct = 0;

	for (unsigned link = 0; link < LINKS_MAX; link++) {
		struct nvml_pci pci;
		char remote[32];
		int active = 0;

		memset(&pci, 0, sizeof(pci));
		if (nvml->nvmlDeviceGetNvLinkState(card->device, link, &active) != 0 || active != 1)
			continue;
		all++;
		if (!nvml->nvmlDeviceGetNvLinkRemotePciInfo ||
		    nvml->nvmlDeviceGetNvLinkRemotePciInfo(card->device, link, &pci) != 0)
			continue;
		nvml_bus(&pci, remote, sizeof(remote));
		direct += strcasecmp(remote, bus) == 0;
	}
	return direct > 0 ? direct : all;
}

void peers_link(const struct card *card, void *peer, char link[16])
{
	/* nvmlGpuTopologyLevel_t: 0 on one board, 10 one switch, 20 several, 30 a host bridge, 40 a node, 50 the system */
	static const char *const levels[] = {"PIX", "PIX", "PXB", "PHB", "NODE", "SYS"};
	const struct nvml *nvml = &card->nvml;
	int status = -1, level = -1, links;

	link[0] = '\0';
	if (nvml->nvmlDeviceGetP2PStatus && nvml->nvmlDeviceGetNvLinkState &&
	    nvml->nvmlDeviceGetP2PStatus(card->device, peer, CAPS_NVLINK, &status) == 0 &&
	    status == 0 && (links = peers_count_links(card)) > 0)
		snprintf(link, 16, "NV%d", links);
	else if (nvml->nvmlDeviceGetTopologyCommonAncestor &&
		 nvml->nvmlDeviceGetTopologyCommonAncestor(card->device, peer, &level) == 0 &&
		 level >= 0 && level <= 50)
		snprintf(link, 16, "%s", levels[level / 10]);
}

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
	char link[16] = "";
	void *peer = NULL;
	int direct = 0, rc;

	card->shared->places[card->number].phase = HEALTH_PEER;
	if (nvml_open(&card->nvml, &err) == 0 &&
	    card->nvml.nvmlDeviceGetHandleByIndex((unsigned)card->number, &card->device) == 0 &&
	    card->nvml.nvmlDeviceGetHandleByIndex((unsigned)card->peer, &peer) == 0)
		peers_link(card, peer, link);
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
