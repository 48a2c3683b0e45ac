/* SPDX-License-Identifier: MIT */
/*
 * component.h - what a stack is made of: the names that a request may begin with, and the order of
 * choice.
 *
 * The enumeration is in the order of choice. Given components (driver, GPU) come first. Frameworks
 * come next, because people want the newest framework that works. What is made for torch comes
 * after it, so that it follows the newest torch. Their dependencies come last.
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
	COMPONENT_TORCHVISION,
	COMPONENT_TORCHAUDIO,
	COMPONENT_DEEPSPEED,
	COMPONENT_FLASH_ATTN,
	COMPONENT_TRANSFORMER_ENGINE,
	COMPONENT_XFORMERS,
	COMPONENT_MEGATRON_CORE,
	COMPONENT_TRITON,
	COMPONENT_NVSHMEM,
	COMPONENT_CUDA,
	COMPONENT_OS,
	COMPONENT_GLIBC,
	COMPONENT_PYTHON,
	COMPONENT_GCC,
	COMPONENT_CUDNN,
	COMPONENT_NCCL,
	COMPONENT_OPENMPI,
	COMPONENT_UCX,
	COMPONENT_LIBFABRIC,
	COMPONENT_AWS_OFI_NCCL,
	COMPONENT_COUNT,
	COMPONENT_NONE = COMPONENT_COUNT
};

#define COMPONENT_BIT(c) (1U << (c))
#define COMPONENTS_FRAMEWORK                                                    \
	(COMPONENT_BIT(COMPONENT_TENSORFLOW) | COMPONENT_BIT(COMPONENT_TORCH) | \
	 COMPONENT_BIT(COMPONENT_JAX) | COMPONENT_BIT(COMPONENT_MXNET))
/* Packages that are made for torch. */
#define COMPONENT_BESIDE_FIRST COMPONENT_TORCHVISION
#define COMPONENT_BESIDE_LAST COMPONENT_NVSHMEM
#define COMPONENTS_BESIDE_TORCH \
	((COMPONENT_BIT(COMPONENT_BESIDE_LAST) << 1) - COMPONENT_BIT(COMPONENT_BESIDE_FIRST))
/* Libraries of the network that are compiled with CUDA where the stack has it. */
#define COMPONENTS_FABRIC                                                    \
	(COMPONENT_BIT(COMPONENT_UCX) | COMPONENT_BIT(COMPONENT_LIBFABRIC) | \
	 COMPONENT_BIT(COMPONENT_AWS_OFI_NCCL))

/* The components with those that they are made for: torch, and libfabric for NCCL's plug-in. */
static inline uint32_t components_with_bases(uint32_t components)
{
	if (components & COMPONENTS_BESIDE_TORCH)
		components |= COMPONENT_BIT(COMPONENT_TORCH);
	if (components & COMPONENT_BIT(COMPONENT_AWS_OFI_NCCL))
		components |= COMPONENT_BIT(COMPONENT_LIBFABRIC);
	return components;
}

/* Components that only a stack for GPUs has. */
#define COMPONENTS_GPU                                                    \
	(COMPONENT_BIT(COMPONENT_DRIVER) | COMPONENT_BIT(COMPONENT_GPU) | \
	 COMPONENT_BIT(COMPONENT_CUDA) | COMPONENT_BIT(COMPONENT_CUDNN) | \
	 COMPONENT_BIT(COMPONENT_NCCL) | COMPONENT_BIT(COMPONENT_AWS_OFI_NCCL))
/* Installed by pip: their versions compare as PEP 440 says, ==2.1 is 2.1.0. */
#define COMPONENTS_PIP \
	(COMPONENTS_FRAMEWORK | COMPONENT_BIT(COMPONENT_HOROVOD) | COMPONENTS_BESIDE_TORCH)

/* Part of a stack only where a request, or something else of the stack, names them. */
#define COMPONENTS_WHERE_ASKED (COMPONENTS_PIP | COMPONENTS_FABRIC)

/* "driver", "cuda" and so on: also the names of the catalog's files and columns. */
extern const char *const component_names[COMPONENT_COUNT + 1]; /* NULL-terminated */

/* How a sentence spells it: "CUDA", "cuDNN", "TensorFlow". */
extern const char *const component_titles[COMPONENT_COUNT];

/*
 * COMPONENT_NONE when no component has that name. As pip does it, '_' counts as '-': flash_attn is
 * flash-attn. Source: PEP 503.
 */
enum component component_by_name(const char *name);

#endif
