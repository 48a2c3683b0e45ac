/* SPDX-License-Identifier: MIT */
/*
 * fuzz.h - what every fuzz target needs. A target must hold on any bytes: no crash, no sanitizer
 * report, no leak, and a broken promise of the header aborts (fuzz_check).
 *
 * libFuzzer: https://llvm.org/docs/LibFuzzer.html. How they are built is in README.md here.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include "core/arena.h"
#include "core/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define fuzz_check(condition)                                                                   \
	do {                                                                                    \
		if (!(condition)) {                                                             \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                \
		}                                                                               \
	} while (0)

/* Every failure says something. */
static inline void fuzz_check_error(int rc, const struct error *err)
{
	fuzz_check(rc == 0 || rc == -1);
	if (rc < 0)
		fuzz_check(err->kind != ERROR_NONE && err->text[0]);
}

/* The bytes as a text that ends in NUL, in a block of its own, so that a read past it is seen. */
static inline char *fuzz_text(const uint8_t *data, size_t size)
{
	char *text = xmalloc(size + 1);

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	return text;
}

/*
 * Makes the checksums of a tar's headers right, so that its reader looks at the rest. Source of the form:
 * POSIX.1, pax, "ustar Interchange Format".
 */
static inline void fuzz_mend_tar(char *tar, size_t size)
{
	enum { BLOCK_BYTES = 512, CHECKSUM_AT = 148, MAGIC_AT = 257 };

	for (char *block = tar; block + BLOCK_BYTES <= tar + size; block += BLOCK_BYTES) {
		unsigned sum = 0;

		if (memcmp(block + MAGIC_AT, "ustar", 5) != 0)
			continue;
		memset(block + CHECKSUM_AT, ' ', 8);
		for (size_t i = 0; i < BLOCK_BYTES; i++)
			sum += (unsigned char)block[i];
		snprintf(block + CHECKSUM_AT, 8, "%06o", sum);
	}
}

/* The bytes as a file, for what reads by path. The path stays the same between calls. */
static inline const char *fuzz_file(const uint8_t *data, size_t size)
{
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	fuzz_check(ftruncate(fd, 0) == 0);
	fuzz_check(pwrite(fd, data, size, 0) == (ssize_t)size);
	return path;
}

#endif
