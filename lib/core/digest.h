/* SPDX-License-Identifier: MIT */
/*
 * digest.h - digests as registries write them: "sha256:" and 64 lower-case hex digits, or "sha512:"
 * and 128. ringup makes only sha256 digests. Content that others name by sha512 is checked with
 * sha512. Source of the form: OCI image specification 1.1, descriptor.md, "Digests".
 */
#ifndef CORE_DIGEST_H
#define CORE_DIGEST_H

#include "core/error.h"

#define DIGEST_TEXT_BYTES 136 /* "sha512:" + 128 + NUL */
#define DIGEST_PREFIX_BYTES 7 /* of "sha256:", and of "sha512:" */

struct digest {
	void *context; /* EVP_MD_CTX, owned */
};

/* Begins a sha256 digest, or one by the algorithm of the digest `like`, which must be valid. */
void digest_init(struct digest *digest);
void digest_init_as(struct digest *digest, const char *like);
void digest_add(struct digest *digest, const void *bytes, size_t length);
/* Writes the text form and releases the context. */
void digest_finish(struct digest *digest, char text[static DIGEST_TEXT_BYTES]);
/* For _cleanup_; also allowed after digest_finish. */
void digest_release(struct digest *digest);

void digest_of(const void *bytes, size_t length, char text[static DIGEST_TEXT_BYTES]);
void digest_of_as(const void *bytes, size_t length, const char *like,
		  char text[static DIGEST_TEXT_BYTES]);
int digest_of_file(const char *path, char text[static DIGEST_TEXT_BYTES], struct error *err);
int digest_of_file_as(const char *path, const char *like, char text[static DIGEST_TEXT_BYTES],
		      struct error *err);

/* True for exactly "sha256:" + 64, or "sha512:" + 128, lower-case hex digits. */
bool digest_is_valid(const char *text);

/* Whether two valid digests are by the same algorithm. */
bool digest_is_like(const char *text, const char *other);

/* `count` random bytes as lower-case hex in `hex` (2 * count + 1 bytes), from the system's
 * generator. */
int random_hex(char *hex, size_t count, struct error *err);

#endif
