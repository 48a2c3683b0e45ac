/* SPDX-License-Identifier: MIT */
/*
 * keys.h - the cluster's own SSH identity: one key pair for the workers, one host key per
 * container, the known_hosts of the whole mesh, the names of all hosts and a shared secret for the
 * rendezvous.
 *
 * The keys are made once and kept in .ringup/keys (0700) beside cluster.yaml. A container's host
 * key belongs to its host's name, so adding a host does not change the other keys. All keys exist
 * before the first container starts, so no worker ever meets an unknown host key.
 */
#ifndef DEPLOYER_BRINGUP_KEYS_H
#define DEPLOYER_BRINGUP_KEYS_H

#include "core/secret.h"
#include "deployer/fleet.h"

struct member_keys {
	struct secret host_key;	 /* content of the private key's file */
	const char *host_public; /* "ssh-ed25519 AAAA..." */
};

struct keys {
	struct secret private_key; /* content of the file of the cluster's private key */
	const char *public_key;
	struct secret secret;	     /* hex; for $RINGUP_SECRET */
	struct member_keys *members; /* one per member of the fleet */
	size_t count;
};

/* Reads the keys, and makes missing ones with ssh-keygen. */
int keys_load(const struct fleet *fleet, struct arena *arena, struct keys *keys, struct error *err);

/* Whether keys_load would find them all, and so make none. */
bool keys_exist(const struct fleet *fleet, struct arena *arena);

/* Overwrites the private keys and the secret. Keys that were never loaded are fine. For _cleanup_. */
void keys_wipe(struct keys *keys);

/* One file that goes to a host's ssh folder. */
struct key_file {
	const char *name;
	const char *text;     /* NULL: the content is `secret` */
	struct secret secret; /* one of `keys`: keys_wipe overwrites it */
	mode_t mode;
};

#define KEY_FILES_MAX 10

/*
 * The files of one member: identity, host key, authorized_keys, known_hosts, ssh_config, hosts,
 * sshd_config, secret. An entry with name NULL ends the array. A member without a port (fleet.h) stands in neither
 * known_hosts nor ssh_config.
 *
 * `hosts` is for /etc/hosts of the containers; images/entry/ringup-hosts puts it there. It is not
 * the engine's option --add-host, for three reasons. Docker leaves out the host's own /etc/hosts
 * when that option meets the host's network (moby/libnetwork, issue 2294). A running container
 * could not learn of a new host. And 4096 hosts would stand on one command line.
 */
void keys_files(const struct fleet *fleet, const struct keys *keys, const struct member *member,
		struct arena *arena, struct key_file files[static KEY_FILES_MAX]);

#endif
