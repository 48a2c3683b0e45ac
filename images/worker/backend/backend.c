/* SPDX-License-Identifier: MIT */
#include "backend/backend.h"

#include <string.h>

#ifndef WORKER_BACKENDS
#error "the build defines WORKER_BACKENDS as X(NAME)... of the files backend_NAME.c, see build.sh"
#endif

#define X(name) extern const struct backend backend_##name;
WORKER_BACKENDS
#undef X

#define X(name) &backend_##name,
static const struct backend *const backends[] = {WORKER_BACKENDS};
#undef X

#define BACKEND_COUNT ((int)(sizeof(backends) / sizeof(backends[0])))

static const struct backend *backend_auto(void)
{
	const struct backend *best = NULL;

	for (int i = 0; i < BACKEND_COUNT; i++)
		if (backends[i]->auto_rank > 0 &&
		    (!best || backends[i]->auto_rank < best->auto_rank))
			best = backends[i];
	return best;
}

const struct backend *backend_find(const char *name)
{
	if (strcmp(name, BACKEND_AUTO) == 0)
		return backend_auto();
	for (int i = 0; i < BACKEND_COUNT; i++)
		if (strcmp(name, backends[i]->name) == 0)
			return backends[i];
	return NULL;
}

const struct backend *backend_at(int index)
{
	return index < BACKEND_COUNT ? backends[index] : NULL;
}
