/* SPDX-License-Identifier: MIT */
#include "core/secret.h"

#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int secret_read(const char *path, size_t ceiling_bytes, struct arena *arena, struct secret *secret,
		struct error *err)
{
	/* without waiting for the other end, should it be a pipe */
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	char *text;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERROR_FAILED, "%s is not a regular file", path);
	if (st.st_size < 0 || (size_t)st.st_size > ceiling_bytes)
		return error_set(err, ERROR_FAILED, "%s is larger than %zu bytes", path,
				 ceiling_bytes);
	/* the size of the file at once: a string that grows would leave copies behind */
	text = arena_alloc(arena, (size_t)st.st_size + 1);
	if (file_fill(fd, text, (size_t)st.st_size) < 0)
		return error_errno(err, "cannot read %s", path);
	secret->hidden = text;
	return 0;
}

struct secret secret_copy(const char *text, struct arena *arena)
{
	return (struct secret){arena_strdup(arena, text)};
}

void secret_wipe_bytes(void *bytes, size_t length)
{
	if (bytes)
		explicit_bzero(bytes, length);
}

void secret_wipe(struct secret *secret)
{
	if (secret->hidden && *secret->hidden)
		explicit_bzero((char *)(uintptr_t)secret->hidden, strlen(secret->hidden));
	secret->hidden = "";
}
