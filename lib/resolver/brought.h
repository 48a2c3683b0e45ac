/* SPDX-License-Identifier: MIT */
/*
 * brought.h - libraries that a framework's wheel brings along, by the column `brings` of its table.
 *
 * pip installs them with the framework (packages nvidia-cudnn-cu13, nvidia-nccl-cu13), or they lie
 * inside of the wheel. The framework loads those and never the system's. So a stack names the
 * wheel's versions, and nothing of them is installed beside, unless a request names the library
 * or another part of the stack needs the system's.
 */
#ifndef RESOLVER_BROUGHT_H
#define RESOLVER_BROUGHT_H

#include "resolver/search/search.h"

/*
 * The chosen framework whose wheel is where the stack's library comes from; `*version` (in the
 * model's arena) is the library's then. NULL when it comes from the system: `*version` stays. Of two
 * frameworks that bring it, it is the one that recipes install last, unless that one asks for a range
 * and so keeps the other's.
 *
 * Of CUDA, `brings` has the series ("cuda==12.4"), and `*version` is the stack's release of it. The
 * system's is there where something is compiled against it (Horovod), where a request names it, and
 * where a driver needs the libraries of cuda-compat.
 */
const struct value *brought_by(const struct search *search, enum component component,
			       const char **version);

/*
 * pip's words for NVIDIA's wheel that takes the place of the one that torch brings, "nvidia-cudnn-cu12==9.15.1.9", where a
 * request names a newer cuDNN of the same major version, or a newer NCCL: brought_by() says torch then, with that version.
 * NULL where nothing is replaced: another framework is beside, there is no such wheel, or torch has the library inside, as
 * the builds of PyTorch's index before 2.1 do, and those for aarch64 before 2.9 (pytorch issue 160162).
 */
const char *brought_over(const struct search *search, enum component component);

/* Whether every stack of the search has the system's CUDA, whatever its wheels bring. */
bool takes_system_cuda(const struct search *search);

/*
 * Whether the stack has this CUDA from the wheels of all its frameworks and none of the system's, as
 * brought_by says it of a CUDA that is chosen. All that is chosen before CUDA has to be chosen.
 */
bool brings_cuda(const struct search *search, const struct value *cuda);

/*
 * Whether what pip installs with `last` replaces what `first` cannot do without. Recipes install
 * TensorFlow after torch, and its nvidia-* packages have the same files as torch's. With an older
 * NCCL torch misses functions, and it refuses a cuDNN outside of its range. Source: pytorch issue
 * 119072, "undefined symbol: ncclCommRegister". JAX is installed after both and fixes no versions:
 * it keeps what they brought, unless that is outside of its range. False for other pairs of
 * frameworks.
 */
bool wheels_clash(const struct value *last, const struct value *first);

#endif
