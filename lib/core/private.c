/* SPDX-License-Identifier: MIT */
#include "core/private.h"

#include "core/arena.h"
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)
#define NAME_BYTES 64
#define SMALL_BYTES_MAX (64 * KIB) /* of files in /proc */

bool private_is_own(const struct stat *st)
{
	return st->st_uid == geteuid() && !(st->st_mode & OTHERS_WRITE);
}

bool private_has_own(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && private_is_own(&st);
}

/* "alice (uid 1000)" */
static const char *private_name(uid_t uid, char text[static NAME_BYTES])
{
	char buffer[1024];
	struct passwd entry, *found = NULL;

	if (getpwuid_r(uid, &entry, buffer, sizeof(buffer), &found) != 0)
		found = NULL;
	snprintf(text, NAME_BYTES, "%.32s (uid %u)", found ? found->pw_name : "nobody known",
		 (unsigned)uid);
	return text;
}

static int private_refuse(const char *path, uid_t owner, struct error *err)
{
	char theirs[NAME_BYTES], mine[NAME_BYTES];

	return error_set(
		err, ERROR_FAILED,
		"%s belongs to another person, %s, who can change it, and this is %s; name a cache folder of your own with XDG_CACHE_HOME, or remove that one",
		path, private_name(owner, theirs), private_name(geteuid(), mine));
}

static int private_check_open(int fd, const char *path, struct error *err)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot look at %s", path);
	if (st.st_uid != geteuid())
		return private_refuse(path, st.st_uid, err);
	if (!(st.st_mode & OTHERS_WRITE))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s has the mode %04o: other users can change what is in it; look at what they put there, or remove it, then run 'chmod go-w' on it",
		path, (unsigned)st.st_mode & 07777);
}

int private_check(const char *path, struct error *err)
{
	_cleanup_(fd_close) int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? 0 : error_errno(err, "cannot look at %s", path);
	return private_check_open(fd, path, err);
}

/* In a user namespace, folders of ids that it does not have belong to this one. */
static bool private_is_unmapped(uid_t uid)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	unsigned long inside, outside, length;
	struct error ignored = {0};
	char *map, *overflow;

	if (file_read("/proc/self/uid_map", SMALL_BYTES_MAX, &arena, &map, NULL, &ignored) < 0 ||
	    file_read("/proc/sys/kernel/overflowuid", SMALL_BYTES_MAX, &arena, &overflow, NULL,
		      &ignored) < 0 ||
	    strtoul(overflow, NULL, 10) != uid)
		return false;
	return sscanf(map, "%lu %lu %lu", &inside, &outside, &length) != 3 || inside || outside ||
	       length != UINT32_MAX;
}

static int private_check_parent(const char *path, struct error *err)
{
	char theirs[NAME_BYTES], mine[NAME_BYTES];
	struct stat st;

	if (lstat(path, &st) < 0)
		return error_errno(err, "cannot look at %s", path);
	if (st.st_uid != 0 && st.st_uid != geteuid() && !private_is_unmapped(st.st_uid))
		return error_set(
			err, ERROR_FAILED,
			"%s belongs to another person, %s, who could exchange a cache in it, and this is %s; name a cache folder of your own with XDG_CACHE_HOME",
			path, private_name(st.st_uid, theirs), private_name(geteuid(), mine));
	if (!(st.st_mode & S_IWOTH) || (st.st_mode & S_ISVTX))
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"%s has the mode %04o: every user can exchange the folders in it; run 'chmod o-w' on it, or name another cache folder with XDG_CACHE_HOME",
		path, (unsigned)st.st_mode & 07777);
}

int private_check_above(const char *path, struct error *err)
{
	char part[PATH_MAX], real[PATH_MAX];
	char *slash;

	if (private_check(path, err) < 0)
		return -1;
	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return error_set(err, ERROR_FAILED, "the path %.60s... is too long", path);
	/* the folders that do not exist yet will be this user's */
	while (!realpath(part, real)) {
		slash = strrchr(part, '/');
		if (errno != ENOENT || !slash || slash == part)
			return errno == ENOENT ? 0 : error_errno(err, "cannot look at %s", path);
		*slash = '\0';
	}
	if (strcmp(part, path) != 0 && private_check_parent(real, err) < 0)
		return -1;
	while ((slash = strrchr(real, '/')) && slash != real) {
		*slash = '\0';
		if (private_check_parent(real, err) < 0)
			return -1;
	}
	return 0;
}

/* Closes an open file or folder to everybody else. It must be this user's own. */
static int private_close(int fd, const char *path, mode_t mode, struct error *err)
{
	char theirs[NAME_BYTES], mine[NAME_BYTES];
	struct stat st;

	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot look at %s", path);
	if (st.st_uid != geteuid())
		return error_set(
			err, ERROR_FAILED,
			"%s belongs to another user, %s, who could exchange what ringup keeps there, and this is %s; work in a folder of your own, or give it to yourself: chown -R %u %s",
			path, private_name(st.st_uid, theirs), private_name(geteuid(), mine),
			(unsigned int)geteuid(), path);
	if ((st.st_mode & 07777 & ~mode) && fchmod(fd, mode) < 0)
		return error_errno(err, "cannot close %s to other users", path);
	return 0;
}

int private_folder(const char *path, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;
	char plain[PATH_MAX];
	struct stat st;
	size_t length;

	snprintf(plain, sizeof(plain), "%s", path);
	length = strlen(plain);
	while (length > 1 && plain[length - 1] == '/') /* "link/" would be the folder behind it */
		plain[--length] = '\0';
	if (lstat(plain, &st) == 0 && S_ISLNK(st.st_mode))
		return error_set(
			err, ERROR_FAILED,
			"%s is a symbolic link, and ringup keeps keys only in a folder of its own; remove the link, or put the folder that it names in its place",
			plain);
	if (folder_make(plain, 0700, err) < 0)
		return -1;
	fd = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && lstat(plain, &st) == 0 && st.st_uid == geteuid() && chmod(plain, 0700) == 0)
		fd = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "cannot open %s", plain);
	return private_close(fd, plain, 0700, err);
}

int private_file(const char *path, struct error *err)
{
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return errno == ELOOP
			       ? error_set(
					 err, ERROR_FAILED,
					 "%s is a symbolic link; put the file itself in its place",
					 path)
			       : error_errno(err, "cannot read %s", path);
	return private_close(fd, path, 0600, err);
}
