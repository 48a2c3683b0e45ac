/* SPDX-License-Identifier: MIT */
/*
 * A backend moves the data. One file backend_<name>.c per backend, each with one record; backend.c
 * lists them.
 *
 * Life of a backend: probe() before the ranks meet, then on every rank open(), buffers(),
 * allreduce() any number of times, close(). All ranks make the same calls in the same order.
 * Waiting inside is bounded by the control plane: poll control_failed(group->control) and return -1
 * when it says so; what you put into *err then does not matter.
 */
#ifndef WORKER_BACKEND_H
#define WORKER_BACKEND_H

#include "dtype.h"
#include "group.h"

struct backend {
	const char *name;

	/* Can it work on this machine? Must not need other ranks. err->status says which exit
	 * status it means. */
	int (*probe)(struct failure *err);

	/* Connects this rank to the others and sets up two buffers of @bytes each. *state is the
	 * backend's own. */
	int (*open)(const struct group *group, size_t bytes, void **state, struct failure *err);

	/* The two buffers: cache-line aligned, in host memory, owned by the backend. */
	void (*buffers)(void *state, void **send, void **recv);

	/* Reduces @count elements of all ranks' @src into all ranks' @dst. Both point to the start
	 * of a buffer of buffers(); they may be the same one (in place). Returns when @dst is ready
	 * and @src may be written. */
	int (*allreduce)(void *state, const void *src, void *dst, size_t count, enum dtype type,
			 enum op op, struct failure *err);

	/* After a failure it must not wait for other ranks. */
	void (*close)(void *state);
};

/* "auto" and the names of the list; NULL for others. */
const struct backend *backend_find(const char *name);

#endif
