/* SPDX-License-Identifier: MIT */
/*
 * component.h - what a stack is made of: the names that a request may begin with, and the order of
 * choice.
 *
 * The enumeration is in the order of choice. Given components (driver, GPU) come first. Frameworks
 * come next, because people want the newest framework that works. Their dependencies come last.
 */
#ifndef PLAN_COMPONENT_H
#define PLAN_COMPONENT_H

#include "core/base.h"

enum component {
	COMPONENT_DRIVER,
	COMPONENT_GPU,
	COMPONENT_TENSORFLOW,
	COMPONENT_TORCH,
	COMPONENT_JAX,
	COMPONENT_MXNET,
	COMPONENT_HOROVOD,
	COMPONENT_CUDA,
	COMPONENT_OS,
	COMPONENT_GLIBC,
	COMPONENT_PYTHON,
	COMPONENT_GCC,
	COMPONENT_CUDNN,
	COMPONENT_NCCL,
	COMPONENT_OPENMPI,
	COMPONENT_COUNT,
	COMPONENT_NONE = COMPONENT_COUNT
};

#define COMPONENT_BIT(c) (1U << (c))
#define COMPONENTS_FRAMEWORK                                                    \
	(COMPONENT_BIT(COMPONENT_TENSORFLOW) | COMPONENT_BIT(COMPONENT_TORCH) | \
	 COMPONENT_BIT(COMPONENT_JAX) | COMPONENT_BIT(COMPONENT_MXNET))
/* Components that only a stack for GPUs has. */
#define COMPONENTS_GPU                                                    \
	(COMPONENT_BIT(COMPONENT_DRIVER) | COMPONENT_BIT(COMPONENT_GPU) | \
	 COMPONENT_BIT(COMPONENT_CUDA) | COMPONENT_BIT(COMPONENT_CUDNN) | \
	 COMPONENT_BIT(COMPONENT_NCCL))
/* Installed by pip: their versions compare as PEP 440 says, ==2.1 is 2.1.0. */
#define COMPONENTS_PIP (COMPONENTS_FRAMEWORK | COMPONENT_BIT(COMPONENT_HOROVOD))

/* "driver", "cuda" and so on: also the names of the catalog's files and columns. */
extern const char *const component_names[COMPONENT_COUNT + 1]; /* NULL-terminated */

/* How a sentence spells it: "CUDA", "cuDNN", "TensorFlow". */
extern const char *const component_titles[COMPONENT_COUNT];

/* COMPONENT_NONE when no component has that name. */
enum component component_by_name(const char *name);

#endif
