/* SPDX-License-Identifier: MIT */
/*
 * --procs: one process that starts several ranks and answers for them.
 */
#ifndef WORKER_SUPERVISE_H
#define WORKER_SUPERVISE_H

#include "options.h"

/* Forks options->procs ranks; each calls @run with its own options and exits with what it returns.
 * When the first ends in failure the others get a grace period (a short one once rank 0 has ended);
 * then they are killed. SIGINT and SIGTERM are handed on. Returns the exit status: rank 0's if it
 * was one of them, else the first one that is not 0; that of a rank killed by a signal is
 * STATUS_LOST, and then *err says which one. */
int supervise(struct options *options, int (*run)(struct options *options), struct failure *err);

#endif
