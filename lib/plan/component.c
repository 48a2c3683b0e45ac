/* SPDX-License-Identifier: MIT */
#include "plan/component.h"

#include <string.h>

const char *const component_names[COMPONENT_COUNT + 1] = {
	[COMPONENT_DRIVER] = "driver",
	[COMPONENT_GPU] = "gpu",
	[COMPONENT_TENSORFLOW] = "tensorflow",
	[COMPONENT_TORCH] = "torch",
	[COMPONENT_JAX] = "jax",
	[COMPONENT_MXNET] = "mxnet",
	[COMPONENT_HOROVOD] = "horovod",
	[COMPONENT_TORCHVISION] = "torchvision",
	[COMPONENT_TORCHAUDIO] = "torchaudio",
	[COMPONENT_DEEPSPEED] = "deepspeed",
	[COMPONENT_FLASH_ATTN] = "flash-attn",
	[COMPONENT_TRANSFORMER_ENGINE] = "transformer-engine",
	[COMPONENT_XFORMERS] = "xformers",
	[COMPONENT_MEGATRON_CORE] = "megatron-core",
	[COMPONENT_TRITON] = "triton",
	[COMPONENT_NVSHMEM] = "nvshmem",
	[COMPONENT_CUDA] = "cuda",
	[COMPONENT_OS] = "os",
	[COMPONENT_GLIBC] = "glibc",
	[COMPONENT_PYTHON] = "python",
	[COMPONENT_GCC] = "gcc",
	[COMPONENT_CUDNN] = "cudnn",
	[COMPONENT_NCCL] = "nccl",
	[COMPONENT_OPENMPI] = "openmpi",
	[COMPONENT_UCX] = "ucx",
	[COMPONENT_LIBFABRIC] = "libfabric",
	[COMPONENT_AWS_OFI_NCCL] = "aws-ofi-nccl",
};

const char *const component_titles[COMPONENT_COUNT] = {
	[COMPONENT_DRIVER] = "driver",
	[COMPONENT_GPU] = "GPU",
	[COMPONENT_TENSORFLOW] = "TensorFlow",
	[COMPONENT_TORCH] = "torch",
	[COMPONENT_JAX] = "JAX",
	[COMPONENT_MXNET] = "MXNet",
	[COMPONENT_HOROVOD] = "Horovod",
	[COMPONENT_TORCHVISION] = "torchvision",
	[COMPONENT_TORCHAUDIO] = "torchaudio",
	[COMPONENT_DEEPSPEED] = "DeepSpeed",
	[COMPONENT_FLASH_ATTN] = "flash-attn",
	[COMPONENT_TRANSFORMER_ENGINE] = "Transformer Engine",
	[COMPONENT_XFORMERS] = "xformers",
	[COMPONENT_MEGATRON_CORE] = "Megatron Core",
	[COMPONENT_TRITON] = "Triton",
	[COMPONENT_NVSHMEM] = "NVSHMEM",
	[COMPONENT_CUDA] = "CUDA",
	[COMPONENT_OS] = "OS",
	[COMPONENT_GLIBC] = "glibc",
	[COMPONENT_PYTHON] = "Python",
	[COMPONENT_GCC] = "gcc",
	[COMPONENT_CUDNN] = "cuDNN",
	[COMPONENT_NCCL] = "NCCL",
	[COMPONENT_OPENMPI] = "Open MPI",
	[COMPONENT_UCX] = "UCX",
	[COMPONENT_LIBFABRIC] = "libfabric",
	[COMPONENT_AWS_OFI_NCCL] = "aws-ofi-nccl",
};

static bool is_component_name(const char *known, const char *name)
{
	for (; *known && (*known == *name || (*known == '-' && *name == '_')); known++)
		name++;
	return !*known && !*name;
}

enum component component_by_name(const char *name)
{
	for (int c = 0; c < COMPONENT_COUNT; c++)
		if (is_component_name(component_names[c], name))
			return (enum component)c;
	return COMPONENT_NONE;
}
