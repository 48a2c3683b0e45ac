/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* mkostemp */
#include "backend/cpu/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NAME "ringup-allreduce"
#define FALLBACK "/dev/shm/" NAME
#define CACHE_LINE 64

/* Neither glibc before 2.27 nor the headers of older kernels know memfd_create(). */
#if !defined(SYS_memfd_create) && defined(__x86_64__)
#define SYS_memfd_create 319
#elif !defined(SYS_memfd_create) && defined(__aarch64__)
#define SYS_memfd_create 279
#elif !defined(SYS_memfd_create) && defined(__powerpc64__)
#define SYS_memfd_create 360
#endif

static int create_memfd(size_t bytes)
{
	int fd = -1;

#ifdef SYS_memfd_create
	fd = (int)syscall(SYS_memfd_create, NAME, 1u); /* MFD_CLOEXEC */
#endif
	if (fd >= 0 && ftruncate(fd, (off_t)bytes) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* /dev/shm may be small, and a page that finds no room there would kill us: all is taken now. */
static int create_file(size_t bytes)
{
	char path[] = FALLBACK ".XXXXXX";
	int fd = mkostemp(path, O_CLOEXEC), error;

	if (fd < 0)
		return -1;
	unlink(path);
	error = posix_fallocate(fd, 0, (off_t)bytes);
	if (error == 0)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int segment_create(size_t bytes)
{
	int fd = create_memfd(bytes);

	return fd < 0 && errno == ENOSYS ? create_file(bytes) : fd;
}

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

int segment_open(uint32_t pid, int fd)
{
	char path[64], target[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/fd/%d", (unsigned)pid, fd);
	length = readlink(path, target, sizeof(target) - 1);
	target[length > 0 ? length : 0] = '\0';
	if (!begins(target, "/memfd:" NAME) && !begins(target, FALLBACK))
		return -1;
	return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

void *segment_private(size_t bytes)
{
	void *memory = NULL;

	if (posix_memalign(&memory, CACHE_LINE, bytes) != 0)
		abort();
	return memory;
}
