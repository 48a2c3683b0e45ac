/* SPDX-License-Identifier: MIT */
/* gpu_find.h - GPUs by product and compute capability. */
#ifndef RESOLVER_GPU_FIND_H
#define RESOLVER_GPU_FIND_H

#include "resolver/request.h"

/*
 * The GPU's row by its product name as people and nvidia-smi write it ("V100", "NVIDIA
 * A100-SXM4-80GB"), or NULL. `*twin` is NULL, or another GPU with this name and another compute
 * capability.
 */
const struct value *gpu_find(const struct model *model, const char *product,
			     const struct value **twin);

/* The compute capability itself ("7.0") when GPUs have it, else the nearest one. */
const char *gpu_capability_nearest(const struct model *model, const char *sm);

#endif
