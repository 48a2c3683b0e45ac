/* SPDX-License-Identifier: MIT */
#include "core/digest.h"

#include "core/arena.h"
#include "core/file.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <string.h>
#include <unistd.h>

static void to_hex(const unsigned char *bytes, size_t count, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		hex[2 * i] = digits[bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	hex[2 * count] = '\0';
}

void digest_init(struct digest *digest)
{
	digest->context = EVP_MD_CTX_new();
	if (!digest->context || !EVP_DigestInit_ex(digest->context, EVP_sha256(), NULL))
		oom();
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
	memcpy(text, "sha256:", 7);
	to_hex(hash, 32, text + 7);
	digest_release(digest);
}

void digest_release(struct digest *digest)
{
	EVP_MD_CTX_free(digest->context);
	digest->context = NULL;
}

void digest_of(const void *bytes, size_t length, char text[static DIGEST_TEXT_BYTES])
{
	struct digest digest;

	digest_init(&digest);
	digest_add(&digest, bytes, length);
	digest_finish(&digest, text);
}

int digest_of_file(const char *path, char text[static DIGEST_TEXT_BYTES], struct error *err)
{
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	_cleanup_(digest_release) struct digest digest = {0};
	static _Thread_local char buffer[256 * KIB];
	ssize_t got;

	if (fd < 0)
		return error_errno(err, "cannot read %s", path);
	digest_init(&digest);
	while ((got = read(fd, buffer, sizeof(buffer))) > 0)
		digest_add(&digest, buffer, (size_t)got);
	if (got < 0)
		return error_errno(err, "cannot read %s", path);
	digest_finish(&digest, text);
	return 0;
}

bool digest_is_valid(const char *text)
{
	return strlen(text) == DIGEST_TEXT_BYTES - 1 && strncmp(text, "sha256:", 7) == 0 &&
	       strspn(text + 7, "0123456789abcdef") == 64;
}

int random_hex(char *hex, size_t count, struct error *err)
{
	unsigned char bytes[64];

	if (count > sizeof(bytes) || RAND_bytes(bytes, (int)count) != 1)
		return error_set(err, ERROR_FAILED, "the system's random generator gave no bytes");
	to_hex(bytes, count, hex);
	return 0;
}
