/* SPDX-License-Identifier: MIT */
#include "health/nvml_link.h"

#include <string.h>
#include <strings.h>

#define CAPS_NVLINK 2 /* NVML_P2P_CAPS_INDEX_NVLINK of nvml.h */

static int nvml_link_count(const struct nvml *nvml, void *device, const char *peer_bus)
{
	int all = 0, direct = 0;

	for (unsigned link = 0; link < NVML_LINK_NVLINKS; link++) {
		struct nvml_pci pci;
		char remote[32];
		int active = 0;

		memset(&pci, 0, sizeof(pci));
		if (nvml->nvmlDeviceGetNvLinkState(device, link, &active) != 0 || active != 1)
			continue;
		all++;
		if (!nvml->nvmlDeviceGetNvLinkRemotePciInfo ||
		    nvml->nvmlDeviceGetNvLinkRemotePciInfo(device, link, &pci) != 0)
			continue;
		nvml_bus(&pci, remote, sizeof(remote));
		direct += strcasecmp(remote, peer_bus) == 0;
	}
	return direct > 0 ? direct : all;
}

enum nvml_link nvml_link(const struct nvml *nvml, void *device, void *peer, const char *peer_bus)
{
	/* nvmlGpuTopologyLevel_t: 0 on one board, 10 one switch, 20 several, 30 a host bridge, 40 a node, 50 the system */
	static const enum nvml_link levels[] = {NVML_LINK_PIX, NVML_LINK_PIX,  NVML_LINK_PXB,
						NVML_LINK_PHB, NVML_LINK_NODE, NVML_LINK_SYS};
	int status = -1, level = -1, links;

	if (nvml->nvmlDeviceGetP2PStatus && nvml->nvmlDeviceGetNvLinkState &&
	    nvml->nvmlDeviceGetP2PStatus(device, peer, CAPS_NVLINK, &status) == 0 && status == 0 &&
	    (links = nvml_link_count(nvml, device, peer_bus)) > 0)
		return (enum nvml_link)links;
	if (nvml->nvmlDeviceGetTopologyCommonAncestor &&
	    nvml->nvmlDeviceGetTopologyCommonAncestor(device, peer, &level) == 0 && level >= 0 &&
	    level <= 50)
		return levels[level / 10];
	return NVML_LINK_UNKNOWN;
}

void *nvml_at(const struct nvml *nvml, const char *bus)
{
	unsigned count = 0;

	if (nvml->nvmlDeviceGetCount(&count) != 0)
		return NULL;
	for (unsigned i = 0; i < count; i++) {
		void *device = NULL;
		struct nvml_pci pci;
		char text[32];

		memset(&pci, 0, sizeof(pci));
		if (nvml->nvmlDeviceGetHandleByIndex(i, &device) != 0 ||
		    nvml->nvmlDeviceGetPciInfo(device, &pci) != 0)
			continue;
		nvml_bus(&pci, text, sizeof(text));
		if (strcasecmp(text, bus) == 0)
			return device;
	}
	return NULL;
}

void nvml_link_name(int link, char text[NVML_LINK_BYTES])
{
	static const char *const names[] = {"PIX", "PXB", "PHB", "NODE", "SYS"};

	text[0] = '\0';
	if (link > 0 && link <= NVML_LINK_NVLINKS)
		snprintf(text, NVML_LINK_BYTES, "NV%d", link);
	else if (link >= NVML_LINK_PIX && link <= NVML_LINK_SYS)
		snprintf(text, NVML_LINK_BYTES, "%s", names[link - NVML_LINK_PIX]);
}
