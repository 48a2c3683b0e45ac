/* SPDX-License-Identifier: MIT */
/*
 * rule_gpu.h - which machine code runs on which GPU.
 *
 * Machine code (SASS) runs on the same major compute capability at the same minor or above; PTX is
 * compiled at run time for anything newer. Source: CUDA C++ Programming Guide, "Application
 * Compatibility"; the architecture lists are in cuda.csv and the wheels' tables.
 */
#ifndef RESOLVER_RULES_RULE_GPU_H
#define RESOLVER_RULES_RULE_GPU_H

#include "resolver/search/search.h"

/* Whether a toolkit can make code for the GPU, or only PTX of another can run (ADMIT_JIT). */
enum admission gpu_takes_cuda(const struct unit *gpu, const struct value *cuda);

/* Whether the cuDNN still has code for a GPU that old: an `sm` cell names the oldest. */
enum admission gpu_takes_cudnn(const struct unit *gpu, const struct value *cudnn);

/*
 * Whether a framework's wheel has code for the GPU; ADMIT_JIT: as PTX alone. A wheel whose list is
 * not known cannot have more than the toolkit that it was built with makes.
 */
enum admission gpu_takes_wheel(const struct model *model, const struct unit *gpu,
			       const struct value *wheel);

/* A wheel that a GPU runs as PTX alone, and a driver that cannot compile that PTX. */
struct stale_driver {
	const struct unit *gpu;
	const char *driver, *needed; /* versions */
	const struct value *cuda;    /* the toolkit that made the PTX */
};

/*
 * Whether a driver that is there, or the one chosen, is older than the toolkit that made the PTX
 * which is all that the wheel has for a GPU that is there. Minor-version compatibility does not
 * cover that; the library of forward compatibility does. Source: NVIDIA, "CUDA Compatibility",
 * "Limitations and Caveats" (PTX).
 */
bool find_stale_driver(const struct search *search, const struct value *wheel,
		       const struct value *cuda, struct stale_driver *stale);

/* The same for a driver that nobody has named yet. */
bool driver_compiles_wheels(const struct search *search, const char *driver);

#endif
