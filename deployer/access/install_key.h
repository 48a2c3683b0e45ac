/* SPDX-License-Identifier: MIT */
/*
 * install_key.h - puts the operator's public key on hosts that know a password so far, as ssh-copy-id does.
 *
 * Host keys are checked as always, so that no password goes to somebody else.
 */
#ifndef DEPLOYER_ACCESS_INSTALL_KEY_H
#define DEPLOYER_ACCESS_INSTALL_KEY_H

#include "deployer/fleet.h"

enum install_state {
	INSTALL_WAITING, /* the host wants a password that is not known yet */
	INSTALL_THERE,	 /* the key logs in already */
	INSTALL_ADDED,	 /* it does now */
	INSTALL_FAILED,	 /* the member has the error */
};

/* A line of a .pub file. */
struct install_key {
	const char *type, *base64, *comment;
};

/*
 * The public half of a private key file: of PATH.pub, of the file itself, or by `ssh-keygen -y`, which cannot ask
 * for a passphrase here. A PATH that ends in .pub is read as it is.
 * ERROR_USAGE when there is no public key in it. The key's texts are in the arena.
 */
int install_read_key(const char *path, struct arena *arena, struct install_key *key,
		     struct error *err);

/* Logs in with the keys, at every active member; states[INDEX] is WAITING where the host refused them. */
void install_try_keys(struct fleet *fleet, enum install_state *states);

/*
 * Puts the key on every member that waits, with this password, and logs in with the key then. A member that does not
 * take the password goes on waiting, with its error in member->err.
 */
void install_by_password(struct fleet *fleet, const struct install_key *key,
			 const struct secret *password, enum install_state *states);

#endif
