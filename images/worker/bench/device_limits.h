/* SPDX-License-Identifier: MIT */
/* device_limits.h - what the devices of all ranks allow, before buffers are allocated. */
#ifndef WORKER_DEVICE_LIMITS_H
#define WORKER_DEVICE_LIMITS_H

#include "backend/backend.h"

#include <stdbool.h>

/*
 * All ranks come to group->limits, the least of all, if the backend has limits. Sizes that the smallest GPU has no memory
 * for are left out, as nccl-tests leaves them out (common.cu, "Reducing maxBytes"): both buffers and 1 GiB for the
 * libraries have to fit. *reduced says whether there are such sizes. Returns -1 with *err where a rank is gone.
 */
int device_limits_agree(struct group *group, const struct backend *backend, bool *reduced,
			struct failure *err);

/* Takes the sizes away that are too large for the memory, in bytes, 0: unknown. Returns whether there are some. */
bool device_limits_reduce(struct workload *workload, uint64_t memory);

#endif
