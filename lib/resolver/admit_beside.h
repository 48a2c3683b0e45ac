/* SPDX-License-Identifier: MIT */
/* admit_beside.h - what may be installed beside a library that a framework's wheel brings. */
#ifndef RESOLVER_ADMIT_BESIDE_H
#define RESOLVER_ADMIT_BESIDE_H

#include "resolver/request.h"

/*
 * Before a search with these requests: lets the wheels that bring such a library take another major version of it
 * too. The requested one is installed beside the wheel's. With another major version it has another file name, so
 * the wheel never loads it. With the same one it is loaded in place of the wheel's where LD_LIBRARY_PATH leads to
 * it, so it must be one that the wheel can use. Source: kohya_ss issue 1096, "compiled against (8, 7, 0) but found
 * runtime version (8, 2, 4)". A requested CUDA is for compiling against the wheel, which needs the same major
 * version; the wheel runs on the runtime that it brings. Where the release has a build for that CUDA, it is that
 * build, unless the request names another one: torch==1.10.0+cu113 with CUDA 11.1.
 */
void model_admit_beside(struct model *model, const struct units *units);

/* Whether a request for the component means that something is compiled against a framework, and with the same CUDA. */
bool component_is_compiled(const struct model *model, enum component component);

/* The model after model_admit_beside() as it were without such requests. In the model's arena. */
struct model *model_uncompiled(const struct model *model, const struct units *units);

/* Whether the package beside torch is built by nvcc, or compiles with it at run time (column `jit`). */
bool value_takes_nvcc(const struct value *value);

#endif
