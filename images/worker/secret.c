/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* syscall */
#include "secret.h"
#include "net/hmac.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEAD_STACK_BYTES 65536

static int dumpable_before = -1; /* -1: not guarded */

bool secret_is_set(const struct secret *secret)
{
	return secret->bytes[0] != 0;
}

size_t secret_length(const struct secret *secret)
{
	return strnlen((const char *)secret->bytes, sizeof(secret->bytes));
}

int secret_set(struct secret *secret, const void *text, size_t length)
{
	if (length == 0 || length >= sizeof(secret->bytes) || memchr(text, 0, length))
		return -1;
	memset(secret, 0, sizeof(*secret));
	memcpy(secret->bytes, text, length);
	return 0;
}

void secret_guard(void)
{
	if (dumpable_before < 0)
		dumpable_before = prctl(PR_GET_DUMPABLE);
	prctl(PR_SET_DUMPABLE, 0);
}

/* Ranks of one host open each other's memory under /proc, which a guarded process does not allow. */
void secret_unguard(void)
{
	if (dumpable_before == 1)
		prctl(PR_SET_DUMPABLE, 1);
	dumpable_before = -1;
}

/* Copies of the secret may be left in registers, and in frames of functions that have returned: the
 * loader puts all registers there when a function of a library is called for the first time. */
static void __attribute__((noinline)) forget_copies(void)
{
	static uint8_t from[SECRET_BYTES], to[SECRET_BYTES];
	uint8_t dead[DEAD_STACK_BYTES];

	for (volatile size_t bytes = 1; bytes <= sizeof(from); bytes *= 2)
		memcpy(to, from, bytes); /* through the registers that it went through before */
	__asm__ volatile("" : : "r"(from), "r"(to) : "memory"); /* no compiler leaves that out */
	hmac_wipe(dead, sizeof(dead));
}

void secret_forget(struct secret *secret)
{
	hmac_wipe(secret, sizeof(*secret));
	forget_copies();
}

/* getrandom(2) needs no descriptor, of which there may be none left. Kernels before 3.17 do not have it. */
static ssize_t random_read(uint8_t *bytes, size_t count)
{
	ssize_t got = -1;
	int fd;

#ifdef SYS_getrandom
	got = syscall(SYS_getrandom, bytes, count, 0);
	if (got >= 0 || errno != ENOSYS)
		return got;
#endif
	fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -1;
	got = read(fd, bytes, count);
	close(fd);
	return got;
}

int secret_random(uint8_t *bytes, size_t count, struct failure *err)
{
	ssize_t got = random_read(bytes, count);

	if (got == (ssize_t)count)
		return 0;
	return failure_set(err, STATUS_USAGE, 0, "", "no random numbers: %s", strerror(errno));
}
