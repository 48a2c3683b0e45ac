/* SPDX-License-Identifier: MIT */
#include "oci/layer/inside.h"

#include "core/arena.h"
#include "core/clock.h"
#include "core/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OPEN_AGAIN_S 30

/* Every part by itself, none through a link. */
static int inside_walk(const struct inside *inside, const char *path, uint64_t flags)
{
	const int on_the_way = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int up = -1, fd, why;

	for (const char *slash; (slash = strchr(path, '/')); path = slash + 1) {
		char part[PATH_PLAIN_BYTES];

		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		fd = openat(up < 0 ? inside->root : up, part, on_the_way);
		why = errno;
		fd_close(&up);
		errno = why;
		if (fd < 0)
			return -1;
		up = fd;
	}
	fd = openat(up < 0 ? inside->root : up, *path ? path : ".",
		    (int)flags | O_NOFOLLOW | O_CLOEXEC);
	why = errno;
	fd_close(&up);
	errno = why;
	return fd;
}

/* A rename anywhere on the machine while a ".." is followed makes it EAGAIN: openat2(2). */
static int inside_resolve(const struct inside *inside, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	uint64_t begin = 0;
	int fd;

	while ((fd = (int)syscall(SYS_openat2, inside->root, *path ? path : ".", &how,
				  sizeof(how))) < 0 &&
	       errno == EAGAIN) {
		begin = begin ? begin : clock_usec();
		if (clock_seconds_since(begin) > OPEN_AGAIN_S)
			break;
		sched_yield();
	}
	return fd;
}

int inside_open(const struct inside *inside, const char *path, uint64_t flags)
{
	return inside->follows_links ? inside_resolve(inside, path, flags)
				     : inside_walk(inside, path, flags);
}

void inside_leave(struct inside *inside)
{
	free(inside->parent);
	inside->parent = NULL;
	fd_close(&inside->parent_fd);
}

int inside_enter(struct inside *inside, const char *path, const char **name)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	int why;

	*name = slash ? slash + 1 : path;
	if (inside->parent && strncmp(inside->parent, path, length) == 0 && !inside->parent[length])
		return 0;
	inside_leave(inside);
	inside->parent = strndup(path, length);
	if (!inside->parent)
		oom();
	inside->parent_fd = inside_open(inside, inside->parent, O_PATH | O_DIRECTORY);
	if (inside->parent_fd >= 0)
		return 0;
	why = errno;
	inside_leave(inside);
	errno = why;
	return -1;
}

static void inside_folder_close(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

int inside_clear(int parent, const char *name, const char *path, inside_keep *keep, void *arg,
		 struct error *err)
{
	_cleanup_(inside_folder_close) DIR *folder = NULL;
	const struct dirent *entry;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder) {
		error_errno(err, "cannot look into %s", path);
		fd_close(&fd);
		return -1;
	}
	while ((entry = readdir(folder))) {
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (inside_remove(
			    dirfd(folder), entry->d_name,
			    arena_printf(&arena, "%s%s%s", path, *path ? "/" : "", entry->d_name),
			    keep, arg, err) < 0)
			return -1;
	}
	return 0;
}

int inside_remove(int parent, const char *name, const char *path, inside_keep *keep, void *arg,
		  struct error *err)
{
	bool stays = keep && keep(arg, path);
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, "cannot look at %s", path);
	if (!S_ISDIR(st.st_mode)) {
		if (stays || unlinkat(parent, name, 0) == 0)
			return 0;
		return error_errno(err, "cannot remove %s", path);
	}
	if (inside_clear(parent, name, path, keep, arg, err) < 0)
		return -1;
	if (stays || unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return 0;
	/* something that stays is in it */
	return keep && (errno == ENOTEMPTY || errno == EEXIST)
		       ? 0
		       : error_errno(err, "cannot remove %s", path);
}
