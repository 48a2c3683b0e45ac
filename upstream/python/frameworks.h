/* SPDX-License-Identifier: MIT */
/* frameworks.h - PyTorch, TensorFlow, JAX and Horovod, from an index of Python packages. */
#ifndef UPSTREAM_PYTHON_FRAMEWORKS_H
#define UPSTREAM_PYTHON_FRAMEWORKS_H

#include "upstream/refresh.h"

int refresh_torch(struct refresh *refresh, struct error *err);
int refresh_tensorflow(struct refresh *refresh, struct error *err);
int refresh_jax(struct refresh *refresh, struct error *err);
int refresh_horovod(struct refresh *refresh, struct error *err);

#endif
