/* SPDX-License-Identifier: MIT */
/*
 * wheels.h - NVIDIA's CUDA, cuDNN and NCCL as wheels: wheel.csv, and the rows of kind pip of cudnn.csv and nccl.csv.
 *
 * Which packages there are is read from the rows: each group (a component and a major CUDA) names its own. A
 * major CUDA without any row is not looked for.
 */
#ifndef UPSTREAM_PYTHON_WHEELS_H
#define UPSTREAM_PYTHON_WHEELS_H

#include "upstream/refresh.h"

/* wheel.csv */
int refresh_wheels(struct refresh *refresh, struct error *err);

/*
 * cuda.csv, by the versions of cuda-toolkit. A patch release has the driver requirement of the one before it. A new
 * series is listed for a person, since no index of packages says which driver it needs.
 */
int refresh_cuda(struct refresh *refresh, struct error *err);

/* The rows of kind pip of cudnn.csv, and of nccl.csv. */
int refresh_pip_rows(struct refresh *refresh, const char *component, struct error *err);

#endif
