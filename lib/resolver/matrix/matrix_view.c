/* SPDX-License-Identifier: MIT */
/* How each table is shown. A table that is not listed here is shown whole. */
#include "resolver/matrix/matrix_view.h"

#include "resolver/matrix/matrix.h"

#include <string.h>

#define FRAMEWORK_ORDER WORDS("version", "cuda_tested")
#define BUILD_COLUMNS WORDS("version", "built", "kind", "run_packages", "source")
#define BUILD_ORDER WORDS("version", "built", "kind")
#define OS_ORDER WORDS("version", "os")

static const struct matrix_view views[] = {
	{"companion", "packages that a component needs beside it and does not ask for",
	 WORDS("id", "component", "kind", "versions", "python", "words", "note", "source"),
	 WORDS(NULL)},
	{"conflicts", "known conflicts between versions: what breaks, and what to do",
	 WORDS("id", "when", "effect", "symptom", "fix", "source"), WORDS(NULL)},
	{"cuda", "CUDA toolkits and the driver that each needs",
	 WORDS("version", "released", "driver", "driver_minor", "gcc", "sm", "source"),
	 WORDS("version")},
	{"cudnn", "cuDNN builds and the CUDA that each was built for", BUILD_COLUMNS, BUILD_ORDER},
	{"deepspeed", "DeepSpeed, which is built beside torch",
	 WORDS("version", "torch", "python", "pip", "note", "source"), WORDS("version")},
	{"driver", "NVIDIA drivers", WORDS("version", "branch", "note", "source"),
	 WORDS("version")},
	{"flash-attn", "flash-attn, which is built beside torch",
	 WORDS("version", "torch", "python", "cuda", "sm", "pip", "note", "source"),
	 WORDS("version")},
	{"gcc", "compilers of each OS", WORDS("version", "os", "kind", "build_packages", "source"),
	 OS_ORDER},
	{"glibc", "C library of each OS", WORDS("version", "os", "source"), OS_ORDER},
	{"gpu", "GPUs: compute capability, and the drivers and CUDA that know them",
	 WORDS("version", "sm", "architecture", "class", "cuda", "driver", "source"), WORDS("sm")},
	{"horovod", "Horovod and the frameworks that it builds with",
	 WORDS("version", "released", "tensorflow", "torch", "mxnet", "python", "openmpi", "gcc",
	       "source"),
	 WORDS("version")},
	{"image", "tags of nvidia/cuda, those that are gone too",
	 WORDS("version", "cuda", "os", "flavor", "cudnn", "status", "source"),
	 WORDS("cuda", "os", "version")},
	{"index_wheel", "checksums of wheels that an index of its own has",
	 WORDS("version", "component", "built", "flavor", "sha256", "source"),
	 WORDS("version", "built", "flavor")},
	{"jax", "JAX wheels: Python, CUDA, cuDNN and compute capabilities",
	 WORDS("version", "python", "cuda", "cudnn", "glibc", "sm", "ptx", "pip", "source"),
	 FRAMEWORK_ORDER},
	{"key", "keys that sign NVIDIA's repositories",
	 WORDS("name", "fingerprint", "sha256", "note", "source"), WORDS(NULL)},
	{"megatron-core", "Megatron Core wheels for torch",
	 WORDS("version", "torch", "python", "glibc", "pip", "note", "source"), WORDS("version")},
	{"mxnet", "MXNet wheels and the CUDA that each was built with",
	 WORDS("version", "python", "cuda_tested", "cudnn", "glibc", "pip", "source"),
	 FRAMEWORK_ORDER},
	{"nccl", "NCCL builds and the CUDA that each was built for", BUILD_COLUMNS, BUILD_ORDER},
	{"openmpi", "Open MPI: releases, and the packages of each OS",
	 WORDS("version", "os", "kind", "released", "soname", "run_packages", "source"), OS_ORDER},
	{"os", "operating systems and the CUDA that NVIDIA's repository for each holds",
	 WORDS("version", "package_manager", "cuda", "eol", "mirror", "image", "source"),
	 WORDS("version")},
	{"package_manager", "package managers: the command, and how it names packages",
	 WORDS("name", "kind", "list", "install", "exact", "source"), WORDS(NULL)},
	{"python", "Pythons of each OS", WORDS("version", "os", "kind", "run_packages", "source"),
	 OS_ORDER},
	{"require", "drivers that NVIDIA's images let in (NVIDIA_REQUIRE_CUDA), over time",
	 WORDS("version", "from", "cuda_least", "branches", "brands", "source"),
	 WORDS("version", "from")},
	{"sources", "where the facts come from", WORDS("id", "title", "certainty", "where"),
	 WORDS(NULL)},
	{"tensorflow", "TensorFlow wheels: Python, CUDA, cuDNN and compute capabilities",
	 WORDS("version", "python", "cuda_tested", "cudnn_tested", "glibc", "sm", "ptx", "pip",
	       "source"),
	 FRAMEWORK_ORDER},
	{"toolkit", "Docker and NVIDIA's container runtimes: what came when",
	 WORDS("component", "version", "released", "fact", "source"),
	 WORDS("component", "version")},
	{"torchaudio", "torchaudio wheels and the torch that each is for",
	 WORDS("version", "torch", "python", "cuda", "glibc", "pip", "note", "source"),
	 WORDS("version")},
	{"torchvision", "torchvision wheels and the torch that each is for",
	 WORDS("version", "torch", "python", "glibc", "pip", "note", "source"), WORDS("version")},
	{"transformer-engine", "Transformer Engine, a part of which is built beside torch",
	 WORDS("version", "torch", "python", "cuda", "glibc", "sm", "pip", "note", "source"),
	 WORDS("version")},
	{"xformers", "xformers wheels and the torch that each is for",
	 WORDS("version", "torch", "python", "cuda", "glibc", "pip", "note", "source"),
	 WORDS("version")},
	{"torch", "PyTorch wheels: Python, CUDA, cuDNN and compute capabilities",
	 WORDS("version", "python", "cuda_tested", "cudnn", "glibc", "sm", "ptx", "index",
	       "source"),
	 FRAMEWORK_ORDER},
	{"triton", "the Triton that each torch asks for",
	 WORDS("version", "torch", "python", "pip", "source"), WORDS("version")},
	{"nvshmem", "the NVSHMEM that each torch asks for",
	 WORDS("version", "torch", "cuda", "pip", "source"), WORDS("version")},
	{"libfabric", "libfabric releases, which are built with the provider for EFA",
	 WORDS("version", "glibc", "note", "source"), WORDS("version")},
	{"aws-ofi-nccl",
	 "NCCL's plug-in for EFA, and the libfabric and NCCL that each release needs",
	 WORDS("version", "libfabric", "nccl", "cuda", "glibc", "note", "source"),
	 WORDS("version")},
	{"ucx", "UCX releases: the Open MPI, CUDA, glibc and gcc that each fits",
	 WORDS("version", "openmpi", "cuda", "glibc", "gcc", "source"), WORDS("version")},
	{"verified", "stacks that somebody published: what ran, and what failed",
	 WORDS("id", "kind", "request", "open", "note", "source"), WORDS(NULL)},
};

static const struct matrix_view plain = {"", "rows of your own", NULL, WORDS("version")};

const struct matrix_view *matrix_view(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(views); i++)
		if (strcmp(views[i].name, name) == 0)
			return &views[i];
	return &plain;
}
