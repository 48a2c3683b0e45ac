/* SPDX-License-Identifier: MIT */
/* The list of backends. `auto` is the first that needs no special hardware. */
#include "backend/backend.h"

#include <string.h>

extern const struct backend backend_cpu, backend_mpi, backend_nccl;

static const struct backend *const backends[] = {&backend_cpu, &backend_mpi, &backend_nccl};

const struct backend *backend_find(const char *name)
{
	if (strcmp(name, "auto") == 0)
		return backends[0];
	for (size_t i = 0; i < sizeof(backends) / sizeof(backends[0]); i++)
		if (strcmp(name, backends[i]->name) == 0)
			return backends[i];
	return NULL;
}
