/* SPDX-License-Identifier: MIT */
/*
 * How ranks find each other: rank 0 listens, the others connect and say who they are, rank 0 checks
 * that all are there and fit together, and hands out the table of members. The connections then
 * become the control plane.
 *
 * A stranger who connects is turned away, and counted: it may say what hello.h has, within HELLO_USEC;
 * many strangers at once cost a bounded table and never the run. A rank, in turn, tells whoever listens
 * at rank 0's port its name and version, and nothing else before the proof.
 */
#ifndef WORKER_RENDEZVOUS_H
#define WORKER_RENDEZVOUS_H

#include "options.h"

#define HELLO_USEC 5000000 /* how long a new connection may take to say who it is */
#define STRANGERS_MAX 256  /* connections that have not said so yet; beyond that the oldest goes, */
#define SILENT_USEC 50000  /* after this time, if it has said nothing, */
#define UNPROVEN_USEC 1000000 /* or after this time, if it has said hello but proven nothing */

/* Rank 0's listening socket on @options' root, made early so that ranks forked afterwards know its
 * port: stores it in options->root_listener, and the port in options->root_port. */
int rendezvous_listen(struct options *options, struct failure *err);

/* Joins the run as options->rank. @unusable is the backend's probe: its status is STATUS_PASS if it
 * is usable. Fills *group except its control, and *fds with the control connections as
 * control_start() wants them (allocated; the caller frees). The secret is not needed afterwards.
 * On failure *err is the same on all ranks that could be told; *alone says that rank 0 did not tell
 * this one, which must then report the failure itself. */
int rendezvous_join(const struct options *options, const struct failure *unusable,
		    struct group *group, int **fds, bool *alone, struct failure *err);

/* Frees what rendezvous_join() put into *group. */
void group_release(struct group *group);

#endif
