/* SPDX-License-Identifier: MIT */
#include "deployer/ssh/keys/key_signer.h"

#include "core/arena.h"
#include "core/secret.h"
#include "deployer/ssh/keys/private_key.h"

#include <openssl/evp.h>
#include <pthread.h>
#include <string.h>

/* The wire form up to the 32 bytes of the key. */
static const unsigned char blob_head[] = "\0\0\0\x0bssh-ed25519\0\0\0\x20";

struct key_signer {
	struct key_signer *next;
	const char *path;
	EVP_PKEY *key; /* NULL: the file is none for this */
	unsigned char blob[KEY_BLOB_BYTES];
};

/* Added to only, so a signer that was found stays where it is. */
static struct key_signer *signers;
static struct arena signers_arena;
static pthread_mutex_t signers_lock = PTHREAD_MUTEX_INITIALIZER;

static struct key_signer *key_signer_read(const char *path)
{
	struct key_signer *signer = ARENA_NEW(&signers_arena, struct key_signer);
	unsigned char seed[32];

	signer->path = arena_strdup(&signers_arena, path);
	memcpy(signer->blob, blob_head, KEY_BLOB_BYTES - 32);
	if (private_key_ed25519(path, seed, signer->blob + KEY_BLOB_BYTES - 32))
		signer->key =
			EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, sizeof(seed));
	secret_wipe_bytes(seed, sizeof(seed));
	signer->next = signers;
	signers = signer;
	return signer;
}

const struct key_signer *key_signer_find(const char *path)
{
	struct key_signer *signer;

	pthread_mutex_lock(&signers_lock);
	for (signer = signers; signer && strcmp(signer->path, path) != 0;)
		signer = signer->next;
	if (!signer)
		signer = key_signer_read(path);
	pthread_mutex_unlock(&signers_lock);
	return signer->key ? signer : NULL;
}

const unsigned char *key_signer_blob(const struct key_signer *signer)
{
	return signer->blob;
}

int key_signer_sign(const struct key_signer *signer, const void *data, size_t length,
		    unsigned char signature[static KEY_SIGNATURE_BYTES])
{
	size_t written = KEY_SIGNATURE_BYTES;
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int rc;

	if (!ctx)
		oom();
	rc = EVP_DigestSignInit(ctx, NULL, NULL, NULL, signer->key) == 1 &&
			     EVP_DigestSign(ctx, signature, &written, data, length) == 1 &&
			     written == KEY_SIGNATURE_BYTES
		     ? 0
		     : -1;
	EVP_MD_CTX_free(ctx);
	return rc;
}
