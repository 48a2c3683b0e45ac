/* SPDX-License-Identifier: MIT */
/*
 * ssh_way.h - by which transport and with which keys a host is reached, and what a refusal of them means.
 *
 * The files and the agent are looked at before anything is sent. So a key with a passphrase is asked for, a key
 * that libssh2 cannot use goes to the system's ssh, and an error says what is true of each key.
 */
#ifndef DEPLOYER_SSH_SSH_WAY_H
#define DEPLOYER_SSH_SSH_WAY_H

#include "deployer/ssh/keys/private_key.h"
#include "deployer/ssh/ssh_transport.h"

struct ssh_way {
	const struct ssh_transport *transport;
	const char *because; /* why it is the system's ssh, for -v; "" for libssh2 */
	bool may_change;     /* `auto`: the system's ssh may try what libssh2 could not do */
	bool has_more;	     /* and there are keys that libssh2 did not try */
	size_t key_count, agent_count;
	struct private_key *keys;
	const char *locked; /* why a key with a passphrase cannot be used; "" when all can */
};

/*
 * Chooses. May ask for a passphrase, and then points target->agent to ringup's own agent. -1 when the file asks
 * for libssh2 and it cannot be.
 */
int ssh_way_choose(struct ssh_target *target, struct arena *arena, struct ssh_way *way,
		   struct error *err);

/* The error for a host that let nobody in: what is wrong with each key, or that the host refused them. */
int ssh_way_refused(const struct ssh_way *way, const struct ssh_target *target, struct error *err);

#endif
