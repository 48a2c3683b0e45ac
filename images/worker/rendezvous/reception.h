/* SPDX-License-Identifier: MIT */
/*
 * Rank 0's side of the rendezvous; only rendezvous.c calls it.
 */
#ifndef WORKER_RECEPTION_H
#define WORKER_RECEPTION_H

#include "rendezvous/hello.h"

/* Takes in the other ranks on options->root_listener (closed here), checks them, sends each the
 * table. @own is rank 0's introduction. Fills the members, the run's id and key, and @fds. On failure
 * every rank that has joined is told. */
int reception_run(const struct options *options, struct introduction *own, struct group *group,
		  int *fds, struct failure *err);

/* This rank's data socket, listening on --bind or else on @fallback's address. Fills self->address
 * and port. Returns the descriptor or -1 with *err set. In rendezvous.c. */
int rendezvous_data_socket(const struct options *options, const struct endpoint *fallback,
			   struct member *self, struct failure *err);

#endif
