/* SPDX-License-Identifier: MIT */
/*
 * private_key.h - what a private key file is; the secret part only of an Ed25519 key, for key_signer.h.
 *
 * Which transport can log in with a key, and whether somebody must be asked for its passphrase, stands in the
 * file itself: a cloud's .pem has no .pub beside it. Sources: PROTOCOL.key of OpenSSH (the public half and the
 * cipher's name are in the clear), RFC 7468 for the labels of PEM files, RFC 1421 for "Proc-Type: 4,ENCRYPTED".
 */
#ifndef DEPLOYER_SSH_KEYS_PRIVATE_KEY_H
#define DEPLOYER_SSH_KEYS_PRIVATE_KEY_H

#include "core/arena.h"

enum private_key_state {
	PRIVATE_KEY_MISSING,
	PRIVATE_KEY_UNREADABLE, /* no right to read it, or it is no regular file */
	PRIVATE_KEY_FOREIGN,	/* a file, but no private key that OpenSSH writes or reads */
	PRIVATE_KEY_EXPOSED, /* it is ours and others may read it: ssh(1) does not use it, and neither does ringup */
	PRIVATE_KEY_FOUND,
};

struct private_key {
	const char *path;
	enum private_key_state state;
	bool encrypted;	  /* it has a passphrase */
	const char *type; /* ssh-ed25519, ssh-rsa ...; "" when only the passphrase would tell */
	const char *public_base64; /* the public half in base64, or "" */
};

/* Looks at the file, and at PATH.pub where the file itself does not tell. Everything is in the arena. */
void private_key_look(const char *path, struct arena *arena, struct private_key *key);

/*
 * The seed and the public key (RFC 8032, section 5.1.5) of an Ed25519 key in OpenSSH's format that has no passphrase. False for
 * any other file, and where the two halves do not belong together. The caller wipes the seed.
 */
bool private_key_ed25519(const char *path, unsigned char seed[static 32],
			 unsigned char public_key[static 32]);

/*
 * Whether libssh2 before 1.11 can log in with a key of this type to a current sshd: Ed25519 and ECDSA. It has no
 * rsa-sha2 signatures, which RSA keys need since OpenSSH 8.8, and it knows no FIDO keys. A blank ends the type.
 */
bool private_key_is_for_libssh2(const char *type);

#endif
