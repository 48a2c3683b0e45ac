/* SPDX-License-Identifier: MIT */
/*
 * launcher.h - ways to start one program on every rank: one const record each, in launcher_NAME.c.
 */
#ifndef DEPLOYER_LAUNCHER_LAUNCHER_H
#define DEPLOYER_LAUNCHER_LAUNCHER_H

#include "deployer/fleet.h"
#include "plan/report.h"

struct launch {
	struct fleet *fleet;
	const char *const *arguments; /* for the program, NULL-terminated */
	int world;		      /* ranks in all */
	const int *first_ranks;	      /* per member: its first rank */
	const char *root_address;     /* where rank 0's rendezvous listens */
	int root_port;
	int timeout_s;
};

struct launcher {
	const char *name, *help;
	bool needs_containers; /* needs the mesh of sshds that only containers have */
	/*
	 * The words that are run in this member's container, in the member's arena; NULL when
	 * nothing is to be run there because another member's words start its ranks.
	 */
	const char *const *(*words)(struct member *member, const struct launch *launch);
};

/* All launchers, NULL-terminated. */
extern const struct launcher *const launchers[];

/* NULL when there is none of that name. */
const struct launcher *launcher_find(const char *name);

/* Ranks on one host: its slots, or else one per GPU that the probe saw, at least 1. */
int member_slots(const struct member *member);

#endif
