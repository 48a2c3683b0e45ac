/* SPDX-License-Identifier: MIT */
/*
 * toolkit_values.h - whether the stack's CUDA is there for the build alone.
 *
 * Horovod is compiled with the toolkit and has CUDA's runtime linked in, and frameworks load the CUDA of their wheels. So
 * nothing in the image loads the toolkit's libraries. Source: CMAKE_CUDA_RUNTIME_LIBRARY "Static" in CMakeLists.txt of
 * Horovod 0.20 and later; before, setup.py linked the shared library.
 */
#ifndef BUILDER_RECIPE_TOOLKIT_VALUES_H
#define BUILDER_RECIPE_TOOLKIT_VALUES_H

#include "builder/recipe/parts.h"
#include "plan/plan.h"

/*
 * Sets cuda.build_only: "yes" where the frameworks bring CUDA, cuDNN and NCCL, no request names the CUDA, no driver of the
 * hosts needs cuda-compat, and the plan has a base with a toolkit beside; else "".
 */
void toolkit_values(const struct plan *plan, struct arena *arena, struct values *values);

#endif
