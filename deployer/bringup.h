/* SPDX-License-Identifier: MIT */
/*
 * bringup.h - from probed hosts and an image in a registry to a verified mesh of containers.
 *
 * Bring-up converges: it compares each host with the wanted state and does only what differs. So a
 * second run changes nothing, and a run after an interruption goes on where the first one stopped.
 * The failure of one host does not stop the others.
 */
#ifndef DEPLOYER_BRINGUP_H
#define DEPLOYER_BRINGUP_H

#include "deployer/fleet.h"
#include "deployer/keys.h"
#include "plan/credentials.h"
#include "plan/reference.h"

struct bringup {
	const char *image;	 /* HOST/NAME@sha256:...; NULL with an engine without containers */
	bool image_is_new;	 /* it is new in the registry, so no host can have it */
	const char *accelerator; /* cpu or cuda */
	const char *registry;	 /* HOST:PORT */
	const char *registry_ca; /* content of the CA file; NULL: the system's CAs */
	struct credentials credentials;
	const char *worker_folder; /* where allreduce lies here, for an engine without containers */
	struct keys keys;
};

/*
 * Brings every member that has not failed to the wanted state. Then every worker logs in to every
 * other one, or to the next MESH_PEERS_MAX in the ring of hosts when there are more. A container that
 * has proved itself gets a restart policy. Members that fail keep their error.
 */
void fleet_bringup(struct fleet *fleet, const struct bringup *bringup);

/* Whether the host has the image, which is named by its digest. */
bool member_has_image(struct member *member, const char *image);

#define MESH_PEERS_MAX 32

/*
 * Adds what fleet_bringup would run on this member, as commands a person could paste. The files
 * that they send are written to .ringup/keys/HOST.tar (0600); nothing is done on the host.
 */
int bringup_commands(struct member *member, const struct bringup *bringup, struct str *out,
		     struct error *err);

#endif
