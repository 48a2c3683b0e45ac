/* SPDX-License-Identifier: MIT */
#include "core/digest.h"

#include "core/arena.h"
#include "core/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define SHA256 "sha256:"
#define SHA512 "sha512:"
#define FILE_STEP_BYTES (256 * KIB)

static void to_hex(const unsigned char *bytes, size_t count, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * count] = '\0';
}

/* OpenSSL looks an algorithm up at each start of a digest, unless it was fetched before. */
static EVP_MD *fetched_sha256, *fetched_sha512;

static void fetch_algorithms(void)
{
	fetched_sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
	fetched_sha512 = EVP_MD_fetch(NULL, "SHA512", NULL);
	if (!fetched_sha256 || !fetched_sha512)
		oom();
}

static void digest_begin(struct digest *digest, bool is_sha512)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	const EVP_MD *algorithm;

	pthread_once(&once, fetch_algorithms);
	algorithm = is_sha512 ? fetched_sha512 : fetched_sha256;
	digest->context = EVP_MD_CTX_new();
	if (!digest->context || !EVP_DigestInit_ex(digest->context, algorithm, NULL))
		oom();
}

void digest_init(struct digest *digest)
{
	digest_begin(digest, false);
}

void digest_init_as(struct digest *digest, const char *like)
{
	digest_begin(digest, digest_is_like(like, SHA512));
}

void digest_add(struct digest *digest, const void *bytes, size_t length)
{
	if (!EVP_DigestUpdate(digest->context, bytes, length))
		oom();
}

void digest_finish(struct digest *digest, char text[static DIGEST_TEXT_BYTES])
{
	unsigned char hash[EVP_MAX_MD_SIZE];
	unsigned int length = 0;

	if (!EVP_DigestFinal_ex(digest->context, hash, &length))
		oom();
	memcpy(text, length == SHA512_DIGEST_LENGTH ? SHA512 : SHA256, DIGEST_PREFIX_BYTES);
	to_hex(hash, length, text + DIGEST_PREFIX_BYTES);
	digest_release(digest);
}

void digest_release(struct digest *digest)
{
	EVP_MD_CTX_free(digest->context);
	digest->context = NULL;
}

void digest_of(const void *bytes, size_t length, char text[static DIGEST_TEXT_BYTES])
{
	digest_of_as(bytes, length, SHA256, text);
}

void digest_of_as(const void *bytes, size_t length, const char *like,
		  char text[static DIGEST_TEXT_BYTES])
{
	struct digest digest;

	digest_init_as(&digest, like);
	digest_add(&digest, bytes, length);
	digest_finish(&digest, text);
}

int digest_of_file(const char *path, char text[static DIGEST_TEXT_BYTES], struct error *err)
{
	return digest_of_file_as(path, SHA256, text, err);
}

int digest_of_file_as(const char *path, const char *like, char text[static DIGEST_TEXT_BYTES],
		      struct error *err)
{
	_cleanup_(fd_close) int fd = -1;
	_cleanup_(digest_release) struct digest digest = {0};
	_cleanup_(free_pointer) char *buffer = NULL; /* too much for a thread's stack */
	ssize_t got;

	if (file_open(path, &fd, err) < 0)
		return -1;
	buffer = xmalloc(FILE_STEP_BYTES);
	digest_init_as(&digest, like);
	while ((got = read(fd, buffer, FILE_STEP_BYTES)) > 0)
		digest_add(&digest, buffer, (size_t)got);
	if (got < 0)
		return error_errno(err, "cannot read %s", path);
	digest_finish(&digest, text);
	return 0;
}

bool digest_is_valid(const char *text)
{
	size_t digits = strncmp(text, SHA256, DIGEST_PREFIX_BYTES) == 0	  ? 64
			: strncmp(text, SHA512, DIGEST_PREFIX_BYTES) == 0 ? 128
									  : 0;

	return digits && strlen(text) == DIGEST_PREFIX_BYTES + digits &&
	       strspn(text + DIGEST_PREFIX_BYTES, "0123456789abcdef") == digits;
}

bool digest_is_like(const char *text, const char *other)
{
	return strncmp(text, other, DIGEST_PREFIX_BYTES) == 0;
}

int random_hex(char *hex, size_t count, struct error *err)
{
	unsigned char bytes[64];

	if (count > sizeof(bytes) || RAND_bytes(bytes, (int)count) != 1)
		return error_set(err, ERROR_FAILED, "the system's random generator gave no bytes");
	to_hex(bytes, count, hex);
	return 0;
}
