/* SPDX-License-Identifier: MIT */
/*
 * rule_gpu.h - which machine code runs on which GPU.
 *
 * Machine code (SASS) runs on the same major compute capability at the same minor or above; PTX is
 * compiled at run time for anything newer. Source: CUDA C++ Programming Guide, "Application
 * Compatibility"; the architecture lists are in cuda.csv and the wheels' tables.
 */
#ifndef PLAN_RULE_GPU_H
#define PLAN_RULE_GPU_H

#include "plan/request.h"

/* Whether a toolkit can make code for the GPU, or only PTX of another can run (ADMIT_JIT). */
enum admission gpu_takes_cuda(const struct unit *gpu, const struct value *cuda);

/*
 * Whether a framework's wheel has code for the GPU; ADMIT_JIT: as PTX alone. A wheel whose list is
 * not known cannot have more than the toolkit that it was built with makes.
 */
enum admission gpu_takes_wheel(const struct model *model, const struct unit *gpu,
			       const struct value *wheel);

#endif
