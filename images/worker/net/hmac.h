/* SPDX-License-Identifier: MIT */
/*
 * SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), tested with the vectors of RFC 4231. The worker
 * links no crypto library, since it is built inside any image.
 */
#ifndef WORKER_HMAC_H
#define WORKER_HMAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_BYTES 32
#define NONCE_BYTES 32

struct sha256 {
	uint32_t state[8];
	uint64_t bytes; /* so far */
	uint8_t block[64];
	uint32_t words[64]; /* scratch */
};

void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
/* Writes the digest and wipes the state. */
void sha256_finish(struct sha256 *hash, uint8_t digest[MAC_BYTES]);

struct hmac {
	struct sha256 inner, outer;
};

/* @key may have any length, 0 too. */
void hmac_init(struct hmac *hmac, const void *key, size_t bytes);
void hmac_add(struct hmac *hmac, const void *data, size_t bytes);
/* Writes the code and wipes the state. */
void hmac_finish(struct hmac *hmac, uint8_t mac[MAC_BYTES]);

/* Compares in a time that depends on @bytes only. */
bool hmac_equal(const void *a, const void *b, size_t bytes);

/* Sets to zero what must not stay in memory; no compiler leaves it out. */
void hmac_wipe(void *data, size_t bytes);

#endif
