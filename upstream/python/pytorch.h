/* SPDX-License-Identifier: MIT */
/* pytorch.h - the builds of torch that PyPI has not: torch==2.13.0+cu126, from PyTorch's own index. */
#ifndef UPSTREAM_PYTHON_PYTORCH_H
#define UPSTREAM_PYTHON_PYTORCH_H

#include "upstream/refresh.h"

/* What any new row of torch takes from the row before it, and the end of its note. */
extern const char *const pytorch_copied[];
#define PYTORCH_NOTE "wheel pulls nvidia-* CUDA/cuDNN/NCCL wheels"

/*
 * Compares every build for CUDA with the rows of torch. METADATA of a release that has a row is read only where it
 * stands beside the wheel.
 */
int refresh_pytorch(struct refresh *refresh, struct error *err);

#endif
