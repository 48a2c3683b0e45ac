/* SPDX-License-Identifier: MIT */
/*
 * bringup.h - from probed hosts and an image in a registry to a verified mesh of containers.
 *
 * Converging: each host is compared with what is wanted and only what differs is done, so that a
 * second run changes nothing, and one that was interrupted goes on. No host's failure stops the
 * others.
 */
#ifndef DEPLOYER_BRINGUP_H
#define DEPLOYER_BRINGUP_H

#include "deployer/fleet.h"
#include "deployer/keys.h"
#include "plan/credentials.h"
#include "plan/reference.h"

struct bringup {
	const char *image;	 /* HOST/NAME@sha256:...; NULL with an engine without containers */
	bool image_is_new;	 /* it was not in the registry before: no host can have it */
	const char *accelerator; /* cpu or cuda */
	const char *registry;	 /* HOST:PORT */
	const char *registry_ca; /* content of the CA file; NULL: none of our own */
	struct credentials credentials;
	const char *worker_folder; /* engine without containers: where allreduce lies here */
	struct keys keys;
};

/*
 * Brings every member that has not failed to the wanted state, then lets every worker log in to
 * every other (to the next MESH_PEERS_MAX in the ring of hosts when there are more). Members that
 * fail keep their error.
 */
void fleet_bringup(struct fleet *fleet, const struct bringup *bringup);

#define MESH_PEERS_MAX 32

/*
 * Adds what fleet_bringup would run on this member, as commands a person could paste. The files
 * that they send are written to .ringup/keys/HOST.tar (0600); nothing is done on the host.
 */
int bringup_commands(struct member *member, const struct bringup *bringup, struct str *out,
		     struct error *err);

/* Stops and removes the containers; with `purge` every other trace too (not the image's layers). */
void fleet_down(struct fleet *fleet, bool purge);

/* Where a container's log is: the last `tail` lines of one member. The caller releases *result. */
int member_logs(struct member *member, int tail, struct proc_result *result, struct error *err);

/*
 * Runs words inside of the member's container (on the host when the engine has none). The caller
 * releases *result.
 */
int member_exec(struct member *member, const char *const *words, int timeout_s,
		struct proc_result *result, struct error *err);

/* The words that run `words` in the member's container: for launchers. In the member's arena. */
const char *const *member_exec_words(struct member *member, const char *const *words);

#endif
