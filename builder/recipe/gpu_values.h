/* SPDX-License-Identifier: MIT */
/* gpu_values.h - what recipes need to know of all of a plan's GPUs together. */
#ifndef BUILDER_RECIPE_GPU_VALUES_H
#define BUILDER_RECIPE_GPU_VALUES_H

#include "builder/recipe/parts.h"
#include "resolver/resolve.h"

/*
 * From the plan's GPUs ("A100 80GB, H100 SXM5" or "sm_90") and their rows of gpu.csv (`gpus`, or NULL) sets
 *
 *   gpu.class      of several GPUs that of a GeForce or Titan, if there is one: they cannot use
 *                  cuda-compat (NVIDIA, "CUDA Compatibility")
 *   gpu.gencode    words of nvcc for machine code for each compute capability
 *   beside.archs   variables that name the capabilities to the builds beside torch
 *
 * The last two are "", which means code for all GPUs, when the capability of one is not known. Texts
 * live in the arena. Called when the row's columns are among the values.
 */
void gpu_values(const struct plan *plan, const struct table *gpus, struct arena *arena,
		struct values *values);

#endif
