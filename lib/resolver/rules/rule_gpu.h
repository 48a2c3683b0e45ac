/* SPDX-License-Identifier: MIT */
/*
 * rule_gpu.h - which machine code runs on which GPU.
 *
 * Machine code (SASS) runs on the same major compute capability with the same minor number or a
 * higher one. The driver compiles PTX at run time for anything newer. Source: CUDA C++ Programming
 * Guide, "Application Compatibility"; the architecture lists are in cuda.csv and the wheels'
 * tables.
 */
#ifndef RESOLVER_RULES_RULE_GPU_H
#define RESOLVER_RULES_RULE_GPU_H

#include "resolver/search/search.h"

/*
 * Whether a toolkit can make code that runs on the GPU, or whether only PTX can run on it (ADMIT_JIT). A
 * toolkit that is older than the first one for the GPU's generation makes none, even where its range
 * of numbers holds the GPU's: Thor was 10.1 before CUDA 13 named it 11.0.
 */
enum admission gpu_takes_cuda(const struct unit *gpu, const struct value *cuda);

/*
 * The first CUDA that makes code which runs on the GPU, by gpu.csv: the lowest of its generation (the
 * same major compute capability, and no higher one). NULL: not known.
 */
const char *gpu_first_cuda(const struct model *model, const struct unit *gpu);

/*
 * gpu.csv's `arch`: the processor that the GPU is joined to, or "jetpack" for a Jetson whose CUDA is a
 * part of Jetson Linux. "" for a card that any host may have. Of a compute capability (sm_NN) it is
 * that of all GPUs that have it; "" when these differ.
 */
const char *gpu_arch(const struct model *model, const struct unit *gpu);

/*
 * Why hosts with this GPU cannot have a stack of the model's processor, or NULL. CUDA 13 has one toolkit
 * for Arm servers and for Jetson Thor; Orin and older Jetsons keep JetPack's. Source: CUDA 13.0 release
 * notes ("unified Arm platform"). For a compute capability (sm_NN) it is refused when all GPUs that have
 * it are; so it is below.
 */
const char *gpu_refuses_recipes(const struct model *model, const struct unit *gpu);

/*
 * Why no driver of this branch drives the GPU, as a sentence in the arena, or NULL when nothing is
 * known against it. A driver has code for the architectures of its own CUDA: the branch of the
 * first CUDA that knows the GPU (gpu.csv, `cuda`) is the oldest one. The newest is the upper bound
 * of gpu.csv's `driver`. Source: NVIDIA Data Center Drivers, "CUDA and Architecture Matrix" (first
 * CUDA toolkit and last driver of each architecture).
 */
const char *gpu_refuses_driver(const struct model *model, const struct unit *gpu,
			       const char *driver);

/* Whether the cuDNN has code for the GPU: an `sm` cell names the oldest one, the newest one, or both. */
enum admission gpu_takes_cudnn(const struct unit *gpu, const struct value *cudnn);

/* The oldest cuDNN without code for the GPU; newer ones have none either. NULL: there is none. */
const struct value *gpu_lost_cudnn(const struct model *model, const struct unit *gpu);

/* The newest cuDNN that does not know the GPU yet; NULL: there is none. */
const struct value *gpu_early_cudnn(const struct model *model, const struct unit *gpu);

/* The cuDNN of those two that shows that the one in a wheel has no code for the GPU; NULL: it may have. */
const struct value *gpu_refuses_brought(const struct unit *gpu, const struct value *wheel);

/* Whether the wheel's list of compute capabilities has one whose machine code the GPU runs. */
bool gpu_runs_code(const struct unit *gpu, const struct value *wheel);

/*
 * Whether a framework's wheel has code for the GPU; ADMIT_JIT: only as PTX. A wheel with an unknown
 * list cannot have more than its toolkit makes.
 */
enum admission gpu_takes_wheel(const struct model *model, const struct unit *gpu,
			       const struct value *wheel);

/* A wheel that a GPU runs only as PTX, and a driver that cannot compile that PTX. */
struct stale_driver {
	const struct unit *gpu;
	const char *driver, *needed; /* versions */
	const struct value *cuda;    /* the toolkit that made the PTX */
};

/*
 * For a wheel that has only PTX for a GPU of the hosts: whether the driver beside that GPU, or the
 * chosen one, is older than the toolkit that made this PTX. Minor-version compatibility does not
 * cover that; the library of forward compatibility does. Source: NVIDIA, "CUDA Compatibility",
 * "Limitations and Caveats" (PTX).
 */
bool find_stale_driver(const struct search *search, const struct value *wheel,
		       const struct value *cuda, struct stale_driver *stale);

/* The same for a driver that no host or request has named. */
bool driver_compiles_wheels(const struct search *search, const char *driver);

#endif
