/* SPDX-License-Identifier: MIT */
/* gpus.h - the GPUs that a host gives to the cluster's containers and ranks. */
#ifndef DEPLOYER_CONTAINER_GPUS_H
#define DEPLOYER_CONTAINER_GPUS_H

#include "deployer/fleet.h"
#include "plan/gpu_wish.h"

/* What the cluster file says: the host's own `gpus`, or else that of the containers. In the member's arena. */
void member_gpu_wish(struct member *member, struct gpu_wish *wish);

/*
 * Fails every member that cannot give its GPUs to a CUDA stack: nvidia-smi failed, a GPU that `gpus` names is not
 * there, or the engine lacks NVIDIA's container toolkit. Warns of hosts without GPUs, whose containers get none.
 * To be called before the image is built. Does nothing for other accelerators than "cuda".
 */
void fleet_check_gpus(struct fleet *fleet, const char *accelerator);

/*
 * Starts a container again that does not see the GPUs that it was to get, unless this command has made or started
 * it, and fails every member whose container does not see them then. Warns of one that was given more than its host
 * has now. Device nodes are counted, since every image can list them; a host with /dev/dxg (WSL) has none and is not
 * judged.
 */
void fleet_check_container_gpus(struct fleet *fleet, const char *accelerator);

/* What a running container sees of the GPUs that its host is to give it. */
enum container_gpus {
	CONTAINER_GPUS_FINE,
	CONTAINER_GPUS_FEWER, /* some came back after it began */
	CONTAINER_GPUS_LOST,  /* it was given more than the host has now */
};

/*
 * Asks a running container, with the member's facts known. *trouble says what is wrong, "" when nothing is; in the
 * member's arena. The error is that nobody could look (member_exec); *gpus is CONTAINER_GPUS_FINE then.
 */
int member_compare_gpus(struct member *member, enum container_gpus *gpus, const char **trouble,
			struct error *err);

/* ERROR_FAILED with what nvidia-smi said when it failed on a member that is to give its GPUs. */
int member_check_gpu_error(struct member *member, struct error *err);

/*
 * What is wrong with the GPUs that a member is to give: what nvidia-smi said when it failed, or how many of those in its
 * PCIe slots it lists. "" when nothing is known to be wrong, or it is to give none. In the member's arena.
 */
const char *member_gpu_trouble(struct member *member);

/*
 * Names the GPUs that a host had when it gave the facts `before` and does not have now, "GPU 3 (NVIDIA H100 80GB HBM3,
 * GPU-...)" with ", " between; "" when there are none. In the arena.
 */
const char *gpus_lost(const struct facts *before, const struct facts *now, struct arena *arena);

#endif
