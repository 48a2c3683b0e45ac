/* SPDX-License-Identifier: MIT */
/*
 * bringup.h - from probed hosts and an image in a registry to a verified mesh of containers.
 *
 * Bring-up converges: it compares each host with the wanted state and does only what differs. So a
 * second run changes nothing, and a run after an interruption goes on where the first one stopped.
 * The failure of one host does not stop the others.
 */
#ifndef DEPLOYER_BRINGUP_BRINGUP_H
#define DEPLOYER_BRINGUP_BRINGUP_H

#include "deployer/fleet.h"
#include "deployer/bringup/keys.h"
#include "plan/credentials.h"
#include "plan/reference.h"

struct parcel_program;

struct bringup {
	const char *image; /* HOST/NAME@sha256:...; NULL with an engine without containers */
	const char
		*image_archive; /* a file to send to hosts without it (images.transfer); or NULL */
	uint64_t image_bytes;	/* of its blobs, as a host gets them; 0: not known */
	const char *const *
		seed_names; /* by member: another name under which it has come (seeds.h), which goes; NULL: no seeds */
	bool image_is_new;	 /* it is new in the registry, so no host can have it */
	const char *accelerator; /* cpu or cuda */
	const char *registry;	 /* HOST:PORT */
	const char *registry_ca; /* content of the CA file; NULL: the system's CAs */
	struct credentials credentials;
	/*
	 * > 0: so many hosts at once get a new container, and the next ones only when these run and
	 * their workers log in to all that are done. After a group that fails the others keep
	 * what they have, and member->waits stays true.
	 */
	int rolling;
	const struct parcel_program
		*programs; /* for an engine without containers (parcel.h); or NULL */
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

/* What fleet_bringup would do on one member; texts in the member's arena. */
struct bringup_plan {
	const char *changes;   /* "image A -> B, container.env"; "" when there is nothing to do */
	struct words commands; /* command lines a person could paste */
};

/*
 * The files that the commands send are written to .ringup/keys/HOST.tar (0600); nothing is done on the
 * host. The commands use the shell's variable `receive`, which bringup_receive_line sets.
 */
int bringup_plan(struct member *member, const struct bringup *bringup, struct bringup_plan *plan,
		 struct error *err);

/* "receive='...'": the script that takes the files, which is the same on all hosts. */
int bringup_receive_line(struct member *member, const char **line, struct error *err);

#endif
