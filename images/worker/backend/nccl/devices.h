/* SPDX-License-Identifier: MIT */
/*
 * Which rank has which GPU. A rank may see all GPUs of its host, or only its own ($CUDA_VISIBLE_DEVICES,
 * NVIDIA_VISIBLE_DEVICES, control groups, MIG), and numbers them from 0 either way. So the ranks tell each other the
 * UUIDs of what they see, and rank 0 gives each one a GPU that no other has: the n-th rank of a host its n-th GPU where
 * all see the same.
 */
#ifndef WORKER_DEVICES_H
#define WORKER_DEVICES_H

#include "backend/backend.h"
#include "backend/nccl/cuda.h"

#define DEVICES_MAX 32 /* that a rank tells of */

struct device {
	uint8_t uuid[16]; /* of a MIG device its own; zero: the driver does not say */
	char bus[16];	  /* "0000:07:00.0" */
	char model[64];
};

/* What a rank sees; crosses the network as it is. */
struct devices {
	int32_t count;
	struct device list[DEVICES_MAX];
};

/* A GPU for each rank: all[rank].list[chosen[rank]]. Returns the first rank for which there is none, -1: all have one. */
int devices_assign(const struct group *group, const struct devices *all, int32_t *chosen);

/* All ranks together: stores the number of this rank's GPU, after cuda_start(). */
int devices_choose(const struct group *group, const struct cuda *cuda, int *device,
		   struct failure *err);

/* backend.h's links(), after devices_choose(). */
void devices_links(const struct group *group, uint8_t *links);

/* backend.h's device(). */
const struct device_name *devices_name(int rank);

#endif
