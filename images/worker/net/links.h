/* SPDX-License-Identifier: MIT */
/*
 * Data connections between ranks: both sides prove with the run's id that they belong to it, and
 * say who they are and what the connection is for.
 */
#ifndef WORKER_LINKS_H
#define WORKER_LINKS_H

#include "group.h"

#include <stdbool.h>

#define LINK_MESH 1000 /* purposes below are the ring's links (ring.h); this one is mesh.h's */
#define LINK_POLL_MSEC 20

/* Connects to @rank's data socket for @purpose. Returns the descriptor (the caller's), or -1. */
int link_connect(const struct group *group, int rank, int purpose, int64_t deadline_usec,
		 struct failure *err);

/* Takes connections on the group's listener until none is @missing(arg), which returns the rank
 * whose connection is awaited, or -1. Each that proves to be a member's
 * goes to @take(arg, rank, purpose, fd), which returns whether it keeps it; all others are closed,
 * and so are those that have not said who they are by then: a rank connects only once it is awaited.
 * Returns 0, or -1 at the deadline or when the run has failed; *err is left alone. */
struct link_taker {
	bool (*take)(void *arg, int rank, int purpose, int fd);
	int (*missing)(const void *arg);
	void *arg;
};
int link_accept(const struct group *group, const struct link_taker *taker, int64_t deadline_usec);

#endif
