/* SPDX-License-Identifier: MIT */
/*
 * owner.h - whose cluster it is. Two people may name their clusters alike and share a host, and a
 * name alone would let the second one replace the first one's cluster.
 *
 * Each folder with a cluster.yaml has a random id in .ringup/cluster-id. The id, and who started the
 * cluster when and from where, go to the host: as labels of the container and as the file `owner` in
 * ringup's folder there. Only the id decides; the rest is for people. Containers and folders without
 * an id (an earlier ringup made them) are nobody's, and are treated like somebody else's.
 * --take-over takes both.
 *
 * A registry on a host has an owner in the same way (registry_host.h), with an id made from the same
 * file.
 */
#ifndef DEPLOYER_RECORDS_OWNER_H
#define DEPLOYER_RECORDS_OWNER_H

#include "core/error.h"
#include "core/words.h"
#include "plan/cluster.h"

#define OWNER_ID_LENGTH 32 /* 16 random bytes in hex */
#define OWNER_REFUSED \
	76 /* exit status of remote scripts: somebody else's; stdout has owner lines */

/* Text is "" where nothing is known. What a host says of another owner is foreign text. */
struct owner {
	const char *id;
	const char *user, *machine, *folder; /* who started it, and where */
	const char *time;		     /* ISO 8601, UTC */
};

extern const struct owner owner_nobody;

/*
 * Reads the id in .ringup/cluster-id, and makes it if `makes`. Without a file the id is "", which
 * owns nothing. User, machine, folder and time are those of this run.
 */
int owner_load(const struct cluster *cluster, bool makes, struct arena *arena, struct owner *owner,
	       struct error *err);

/* The same person's registries: the id is another one, so that a cluster of the name `registry` and
 * a registry, which have the same folder on a host, never take each other for the same thing. */
struct owner owner_of_registries(const struct owner *owner, struct arena *arena);

/* Whether both have the same id, and have one at all. */
bool owner_is(const struct owner *a, const struct owner *b);

/* "id=...\nuser=...\n": the file on a host. */
const char *owner_text(const struct owner *owner, struct arena *arena);

/* The same from lines whose keys begin with `prefix`. Other lines are passed over. */
void owner_parse(const char *text, const char *prefix, struct arena *arena, struct owner *owner);

/* Adds them as labels, NAME=VALUE; nothing without an id. */
void owner_add_labels(const struct owner *owner, struct words *labels);

/* The label with the id. Containers are made anew when it differs, and not when the others do. */
void owner_add_id_label(const struct owner *owner, struct words *labels);

/*
 * Sets the error "PLACE: THING there belongs to somebody else: ...", with who, when, from where and
 * what to do; `command` is what takes it over. Always returns -1.
 */
int owner_refuse(const char *place, const char *thing, const struct owner *owner,
		 const char *command, struct error *err);

/* "alice@desk started it at TIME from FOLDER", as far as it is known; in the arena. */
const char *owner_story(const struct owner *owner, struct arena *arena);

#endif
