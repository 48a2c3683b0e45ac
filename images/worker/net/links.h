/* SPDX-License-Identifier: MIT */
/*
 * Data connections between ranks. Both sides prove with the run's key, and nonces of both, that they
 * are who they say, and what the connection is for; so nobody can get in by what was heard on the
 * network, or come between two ranks unnoticed. The data itself is neither encrypted nor proven.
 */
#ifndef WORKER_LINKS_H
#define WORKER_LINKS_H

#include "group.h"

#include <stdbool.h>

#define LINK_MESH 1000 /* purposes below are the ring's links (ring.h); this one is mesh.h's */
#define LINK_POLL_MSEC 20

/* The first bytes of a data connection, from the rank that calls; */
struct link_hello {
	uint64_t magic;
	uint32_t rank, purpose;
	uint8_t nonce[NONCE_BYTES];
};

/* from the one that takes the call, which proves first; and the caller's proof is the rest. */
struct link_challenge {
	uint8_t nonce[NONCE_BYTES];
	uint8_t proof[MAC_BYTES];
};

/* A call of this rank. */
struct link_call {
	int rank, purpose;
	int fd;	   /* the connection, the caller's; -1 before, and after a failure */
	bool made; /* the rest is for links.c */
	size_t have;
	struct link_hello hello;
	struct link_challenge challenge;
};

/* What to do with calls of other ranks. */
struct link_taker {
	/* What a proven call is for; returns whether the connection is kept (the taker's). */
	bool (*take)(void *arg, int rank, int purpose, int fd);
	/* The rank whose call is awaited, -1: none any more. */
	int (*missing)(const void *arg);
	/* Sets *err: that rank did not call in time. Returns -1. */
	int (*late)(const void *arg, struct failure *err);
	void *arg;
};

/* Calls the data sockets of @calls' ranks ([count]), and takes calls on the group's listener until
 * @taker (NULL: no calls are taken) misses none, both at the same time: whoever is called answers only
 * while it is in here, too. Calls that do not prove to be a member's are closed, and so are those
 * that have not said who they are by the end: a rank calls only once it is awaited. -1 with *err set,
 * at the deadline, when the run has failed, or if a rank cannot be reached. */
int link_meet(const struct group *group, struct link_call *calls, int count,
	      const struct link_taker *taker, int64_t deadline_usec, struct failure *err);

/* One call. Returns the descriptor (the caller's), or -1. */
int link_connect(const struct group *group, int rank, int purpose, int64_t deadline_usec,
		 struct failure *err);

#endif
