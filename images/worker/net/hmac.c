/* SPDX-License-Identifier: MIT */
#include "net/hmac.h"

#include <string.h>

#define BLOCK_BYTES 64
#define LENGTH_BYTES 8 /* of the message's length, at the end of the last block */

/* FIPS 180-4, section 4.2.2 */
static const uint32_t rounds[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2};

static uint32_t hmac_turn(uint32_t value, int bits)
{
	return value >> bits | value << (32 - bits);
}

static void schedule_words(const uint8_t *block, uint32_t w[64])
{
	for (int i = 0; i < 16; i++)
		w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
		       (uint32_t)block[4 * i + 2] << 8 | block[4 * i + 3];
	for (int i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (hmac_turn(a, 7) ^ hmac_turn(a, 18) ^ a >> 3) + w[i - 7] +
		       (hmac_turn(b, 17) ^ hmac_turn(b, 19) ^ b >> 10);
	}
}

/* Section 6.2.2; s holds the working variables a to h. */
static void digest_block(struct sha256 *hash)
{
	uint32_t *w = hash->words, s[8];

	schedule_words(hash->block, w);
	memcpy(s, hash->state, sizeof(s));
	for (int i = 0; i < 64; i++) {
		uint32_t one = s[7] +
			       (hmac_turn(s[4], 6) ^ hmac_turn(s[4], 11) ^ hmac_turn(s[4], 25)) +
			       ((s[4] & s[5]) ^ (~s[4] & s[6])) + rounds[i] + w[i];
		uint32_t two = (hmac_turn(s[0], 2) ^ hmac_turn(s[0], 13) ^ hmac_turn(s[0], 22)) +
			       ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += one;
		s[0] = one + two;
	}
	for (int i = 0; i < 8; i++)
		hash->state[i] += s[i];
}

void sha256_init(struct sha256 *hash)
{
	static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
					  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

	memcpy(hash->state, first, sizeof(first));
	hash->bytes = 0;
}

void sha256_add(struct sha256 *hash, const void *data, size_t bytes)
{
	const uint8_t *next = data;

	while (bytes > 0) {
		size_t used = hash->bytes % BLOCK_BYTES, room = BLOCK_BYTES - used;
		size_t now = bytes < room ? bytes : room;

		memcpy(hash->block + used, next, now);
		hash->bytes += now;
		next += now;
		bytes -= now;
		if (now == room)
			digest_block(hash);
	}
}

void sha256_finish(struct sha256 *hash, uint8_t digest[MAC_BYTES])
{
	static const uint8_t padding[BLOCK_BYTES] = {0x80};
	uint64_t bits = hash->bytes * 8;
	size_t used = hash->bytes % BLOCK_BYTES, end = BLOCK_BYTES - LENGTH_BYTES;
	uint8_t length[LENGTH_BYTES];

	for (int i = 0; i < LENGTH_BYTES; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(hash, padding, (used < end ? end : end + BLOCK_BYTES) - used);
	sha256_add(hash, length, sizeof(length));
	for (int i = 0; i < MAC_BYTES; i++)
		digest[i] = (uint8_t)(hash->state[i / 4] >> (24 - 8 * (i % 4)));
	hmac_wipe(hash, sizeof(*hash));
}

/* Begins a hash with the key, each byte of it changed by @with. */
static void begin_keyed(struct sha256 *hash, const uint8_t key[BLOCK_BYTES], uint8_t with)
{
	uint8_t pad[BLOCK_BYTES];

	for (int i = 0; i < BLOCK_BYTES; i++)
		pad[i] = key[i] ^ with;
	sha256_init(hash);
	sha256_add(hash, pad, sizeof(pad));
	hmac_wipe(pad, sizeof(pad));
}

void hmac_init(struct hmac *hmac, const void *key, size_t bytes)
{
	uint8_t block[BLOCK_BYTES] = {0};

	if (bytes > sizeof(block)) {
		sha256_init(&hmac->inner);
		sha256_add(&hmac->inner, key, bytes);
		sha256_finish(&hmac->inner, block);
	} else if (bytes > 0) {
		memcpy(block, key, bytes);
	}
	begin_keyed(&hmac->inner, block, 0x36);
	begin_keyed(&hmac->outer, block, 0x5c);
	hmac_wipe(block, sizeof(block));
}

void hmac_add(struct hmac *hmac, const void *data, size_t bytes)
{
	sha256_add(&hmac->inner, data, bytes);
}

void hmac_finish(struct hmac *hmac, uint8_t mac[MAC_BYTES])
{
	uint8_t inner[MAC_BYTES];

	sha256_finish(&hmac->inner, inner);
	sha256_add(&hmac->outer, inner, sizeof(inner));
	sha256_finish(&hmac->outer, mac);
	hmac_wipe(inner, sizeof(inner));
}

bool hmac_equal(const void *a, const void *b, size_t bytes)
{
	const uint8_t *one = a, *other = b;
	volatile uint8_t difference = 0;

	for (size_t i = 0; i < bytes; i++)
		difference = (uint8_t)(difference | (one[i] ^ other[i]));
	return difference == 0;
}

void hmac_wipe(void *data, size_t bytes)
{
	volatile uint8_t *next = data;

	while (bytes-- > 0)
		*next++ = 0;
}
