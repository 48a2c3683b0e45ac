/* SPDX-License-Identifier: MIT */
/* host_key.h - the keys with which a host proves that it is itself, as it shows them. Nobody logs in for it. */
#ifndef DEPLOYER_SSH_KEYS_HOST_KEY_H
#define DEPLOYER_SSH_KEYS_HOST_KEY_H

#include "core/arena.h"
#include "deployer/ssh/ssh.h"

#define HOST_KEY_KINDS 3 /* Ed25519, ECDSA, RSA: those that a host has as a rule */
#define HOST_KEY_PRINT_BYTES 64

struct host_key {
	const char *type, *base64;
	char fingerprint[HOST_KEY_PRINT_BYTES]; /* SHA256:..., as ssh-keygen -l prints it */
};

/* "ssh-ed25519" for libssh2's number of a type. */
const char *host_key_type(int type);

/* "SHA256:..." of a key in its wire form. */
void host_key_fingerprint(const void *key, size_t length, char text[static HOST_KEY_PRINT_BYTES]);

/* The wire form of a key's base64, into room for strlen(base64) bytes. How many they are; 0: it is no base64. */
size_t host_key_decode(const char *base64, unsigned char *bytes);

/* The key of a session after its handshake; its base64 is in the arena. False where there is none. */
struct _LIBSSH2_SESSION;
bool host_key_of(struct _LIBSSH2_SESSION *session, struct arena *arena, struct host_key *key);

/*
 * Asks the host for its keys, over its jump hosts where it has some: one connection for each kind. *count is at
 * most HOST_KEY_KINDS. A host that shows libssh2 none may have an RSA key alone, which ssh-keyscan asks for. -1 when it
 * shows none.
 */
int host_keys_fetch(const struct ssh_target *target, struct arena *arena,
		    struct host_key keys[static HOST_KEY_KINDS], size_t *count, struct error *err);

#endif
