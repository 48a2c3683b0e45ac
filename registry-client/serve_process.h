/* SPDX-License-Identifier: MIT */
/*
 * serve_process.h - the server's process, for serve.c. FOLDER/registry.pid holds its id and the
 * kernel's start time of it, so that a process that got the same id later is not taken for it.
 */
#ifndef REGISTRY_CLIENT_SERVE_PROCESS_H
#define REGISTRY_CLIENT_SERVE_PROCESS_H

#include "core/arena.h"
#include "core/error.h"

bool serve_process_runs(const char *folder);

/* Starts it and waits until its port answers; an error ends with what its log says. */
int serve_process_start(const char *folder, const char *address, struct arena *arena,
			struct error *err);

/* SIGTERM, then SIGKILL. Not running is fine. */
int serve_process_stop(const char *folder, bool *was_running, struct error *err);

#endif
