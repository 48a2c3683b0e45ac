/* SPDX-License-Identifier: MIT */
/*
 * key_signer.h - an Ed25519 key that is read once and signs for every host.
 *
 * libssh2 reads a key file anew for each login, and OpenSSL first tries each of its formats on it: that is half of a
 * login's instructions, and most of its memory. Other kinds of keys are left to libssh2.
 */
#ifndef DEPLOYER_SSH_KEYS_KEY_SIGNER_H
#define DEPLOYER_SSH_KEYS_KEY_SIGNER_H

#include "core/base.h"

#define KEY_SIGNATURE_BYTES 64 /* RFC 8032, section 5.1.6 */
#define KEY_BLOB_BYTES 51      /* RFC 8709, section 4: two strings, "ssh-ed25519" and 32 bytes */

struct key_signer;

/*
 * The signer of a key file, or NULL where private_key_ed25519 cannot read it. It is kept until the process ends. Any
 * thread may call it and use the result.
 */
const struct key_signer *key_signer_find(const char *path);

/* The public key in its wire form: KEY_BLOB_BYTES bytes. */
const unsigned char *key_signer_blob(const struct key_signer *signer);

/* Signs; 0 or -1. */
int key_signer_sign(const struct key_signer *signer, const void *data, size_t length,
		    unsigned char signature[static KEY_SIGNATURE_BYTES]);

#endif
