/* SPDX-License-Identifier: MIT */
/*
 * digest.h - SHA-256 as registries write it: "sha256:" and 64 lower-case hex digits.
 * Source of the form: OCI image specification 1.1, descriptor.md, "Digests".
 */
#ifndef CORE_DIGEST_H
#define CORE_DIGEST_H

#include "core/error.h"

#define DIGEST_TEXT_BYTES 72 /* "sha256:" + 64 + NUL */

struct digest {
	void *context; /* EVP_MD_CTX, owned */
};

void digest_init(struct digest *digest);
void digest_add(struct digest *digest, const void *bytes, size_t length);
/* Writes the text form and releases the context. */
void digest_finish(struct digest *digest, char text[static DIGEST_TEXT_BYTES]);
/* For _cleanup_: fine after digest_finish too. */
void digest_release(struct digest *digest);

void digest_of(const void *bytes, size_t length, char text[static DIGEST_TEXT_BYTES]);
int digest_of_file(const char *path, char text[static DIGEST_TEXT_BYTES], struct error *err);

/* True for exactly "sha256:" + 64 lower-case hex digits. */
bool digest_is_valid(const char *text);

/* `count` random bytes as lower-case hex in `hex` (2 * count + 1 bytes), from the system's
 * generator. */
int random_hex(char *hex, size_t count, struct error *err);

#endif
