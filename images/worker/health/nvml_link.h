/* SPDX-License-Identifier: MIT */
/*
 * What lies between two cards of a machine, by NVML. Pairs between which the same lies are alike, and only they are compared:
 * by --find-slow, and by what reads the lines of --health.
 */
#ifndef WORKER_NVML_LINK_H
#define WORKER_NVML_LINK_H

#include "health/nvml.h"

#define NVML_LINK_BYTES 16

/* As one byte: so many NVLinks that lead to the other card, or to the switch that leads to it; or what nvidia-smi topo calls
 * these. */
enum nvml_link {
	NVML_LINK_UNKNOWN = 0,
	NVML_LINK_NVLINKS = 36, /* at most */
	NVML_LINK_PIX = 64,	/* one PCIe switch, or one board */
	NVML_LINK_PXB,		/* several */
	NVML_LINK_PHB,		/* a host bridge */
	NVML_LINK_NODE,		/* a NUMA node */
	NVML_LINK_SYS		/* the machine */
};

/* Between two handles; the second one's address is @peer_bus ("0000:07:00.0"). NVML_LINK_UNKNOWN where NVML does not say. */
enum nvml_link nvml_link(const struct nvml *nvml, void *device, void *peer, const char *peer_bus);

/* The handle of the card at @bus; NULL: NVML does not see it. */
void *nvml_at(const struct nvml *nvml, const char *bus);

/* "NV18", "PIX", "PXB", "PHB", "NODE", "SYS"; "" of what is none. */
void nvml_link_name(int link, char text[NVML_LINK_BYTES]);

#endif
