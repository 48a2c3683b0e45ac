/* SPDX-License-Identifier: MIT */
/* init_text.h - the text of the cluster.yaml that `ringup init` writes. */
#ifndef CLI_INIT_TEXT_H
#define CLI_INIT_TEXT_H

#include "core/words.h"
#include "deployer/fleet.h"

/* What the person asks for; text that is NULL or "" takes the default of the key, which is then a comment. */
struct init_wish {
	const char *name;
	const char *const *hosts; /* names or addresses, one each; not NULL */
	const char *user, *key, *known_hosts, *jump, *transport;
	bool sudo;
	int port; /* of the hosts' sshd; 0: 22 */
	const char *registry, *ca;
	const char *
		registry_on; /* the host where a registry will run; its address is the registry's */
	bool insecure;
	const char *const *stack; /* requests; NULL or empty: what fits the hosts */
	bool is_hosts_stack;	  /* these are what the hosts have */
	bool needs_setup;	  /* a host has no container engine, and is to have one */
	const char *engine;
	const char *interface;
};

/*
 * Adds the file. `fleet` gives the facts, its failed members have none; NULL: nobody was asked. Facts come
 * from the hosts: in comments they are cleaned.
 */
void init_add_text(const struct init_wish *wish, const struct fleet *fleet, struct arena *arena,
		   struct str *out);

/* Whether the hosts are to have no containers. */
bool init_is_bare(const struct init_wish *wish);

/* A name for a cluster from that of a folder: "My Cluster 2" gives "my-cluster-2", nothing usable "train". */
const char *init_name_of(const char *folder, struct arena *arena);

#endif
