/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/idmap.h"

#include "builder/native/runtime/subids.h"
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

/*
 * Above the ids that sssd and systemd give out (up to 2000200000), and below 2^31, beyond which
 * tools differ. Sources: systemd, "Users, Groups, UIDs and GIDs on systemd systems"; sssd-ldap(5),
 * ldap_idmap_range_max.
 */
#define IDMAP_START_MAX 0x7e000000UL
#define IDMAP_START_MIN 0x78000000UL

/* Of linux/mount.h, which older systems do not have; the numbers are those of every processor. */
#define IDMAP_SYS_OPEN_TREE 428
#define IDMAP_SYS_MOVE_MOUNT 429
#define IDMAP_SYS_MOUNT_SETATTR 442
#define IDMAP_TREE_CLONE 1    /* OPEN_TREE_CLONE */
#define IDMAP_ATTR 0x00100000 /* MOUNT_ATTR_IDMAP */
#define IDMAP_FROM_FD 4	      /* MOVE_MOUNT_F_EMPTY_PATH */

struct idmap_attr {
	uint64_t set, clear, propagation, userns_fd;
};

/* Overlayfs takes ID-mapped layers since Linux 5.19. */
static bool idmap_is_new_enough(void)
{
	struct utsname uts;
	int major, minor;

	return uname(&uts) < 0 || sscanf(uts.release, "%d.%d", &major, &minor) != 2 || major > 5 ||
	       (major == 5 && minor >= 19);
}

static int free_range(unsigned long *start, struct error *err)
{
	for (*start = IDMAP_START_MAX; *start >= IDMAP_START_MIN; *start -= IDMAP_LENGTH)
		if (!subids_overlap("/etc/subuid", *start, IDMAP_LENGTH) &&
		    !subids_overlap("/etc/subgid", *start, IDMAP_LENGTH))
			return 0;
	return error_set(err, ERROR_FAILED, "/etc/subuid and /etc/subgid leave no ids free");
}

static int write_map(pid_t pid, const char *name, unsigned long start, struct error *err)
{
	char path[64], line[64];
	int length = snprintf(line, sizeof(line), "0 %lu %lu\n", start, IDMAP_LENGTH);
	_cleanup_(fd_close) int fd = -1;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, line, (size_t)length) != length)
		return error_errno(err, "the kernel takes no ids for a user namespace");
	return 0;
}

/* It lives until the other end of the pipe closes. Only async-signal-safe calls are made here. */
static void idmap_child(const int ready[2], const int end[2])
{
	char byte = 0;

	close(ready[0]);
	close(end[1]);
	if (unshare(CLONE_NEWUSER) < 0)
		_exit(1);
	if (write(ready[1], &byte, 1) == 1)
		while (read(end[0], &byte, 1) < 0 && errno == EINTR)
			;
	_exit(0);
}

static int take_namespace(struct idmap *map, pid_t pid, int ready, struct error *err)
{
	char byte, path[64];
	ssize_t got;

	do
		got = read(ready, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		return error_set(
			err, ERROR_FAILED,
			"the kernel makes no user namespace here (sysctl user.max_user_namespaces; inside of a container its runtime may forbid it)");
	if (write_map(pid, "uid_map", map->start, err) < 0 ||
	    write_map(pid, "gid_map", map->start, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%d/ns/user", (int)pid);
	map->fd = open(path, O_RDONLY | O_CLOEXEC);
	return map->fd < 0 ? error_errno(err, "cannot open %s", path) : 0;
}

static int idmap_namespace(struct idmap *map, struct error *err)
{
	int ready[2] = {-1, -1}, end[2] = {-1, -1}, rc = -1;
	pid_t pid = -1;

	if (pipe2(ready, O_CLOEXEC) < 0 || pipe2(end, O_CLOEXEC) < 0)
		error_errno(err, "cannot make a pipe");
	else if ((pid = fork()) == 0)
		idmap_child(ready, end);
	else if (pid < 0)
		error_errno(err, "cannot start a part of ringup");
	fd_close(&ready[1]);
	if (pid > 0)
		rc = take_namespace(map, pid, ready[0], err);
	fd_close(&ready[0]);
	fd_close(&end[0]);
	fd_close(&end[1]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return rc;
}

/* A copy of the mount with the ids mapped, attached nowhere yet. */
static int mapped_copy(const struct idmap *map, const char *folder, int *fd, struct error *err)
{
	struct idmap_attr attr = {.set = IDMAP_ATTR, .userns_fd = (uint64_t)map->fd};

	*fd = (int)syscall(IDMAP_SYS_OPEN_TREE, AT_FDCWD, folder, IDMAP_TREE_CLONE | O_CLOEXEC);
	if (*fd < 0)
		return error_errno(err, "the mount of %s cannot be copied", folder);
	if (syscall(IDMAP_SYS_MOUNT_SETATTR, *fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return error_errno(err, "the file system of %s has no ID-mapped mounts", folder);
	return 0;
}

int idmap_make(struct idmap *map, const char *folder, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;

	map->fd = -1;
	if (!idmap_is_new_enough())
		return error_set(err, ERROR_FAILED,
				 "overlay mounts with mapped ids need Linux 5.19");
	if (free_range(&map->start, err) < 0 || idmap_namespace(map, err) < 0)
		return -1;
	return mapped_copy(map, folder, &fd, err);
}

void idmap_release(struct idmap *map)
{
	fd_close(&map->fd);
}

int idmap_mount(const struct idmap *map, const char *folder, const char *at, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;

	if (mapped_copy(map, folder, &fd, err) < 0)
		return -1;
	if (syscall(IDMAP_SYS_MOVE_MOUNT, fd, "", AT_FDCWD, at, IDMAP_FROM_FD) < 0)
		return error_errno(err, "cannot mount on %s", at);
	return 0;
}

/* Files belong to this id now, for this thread, with all that root may do. */
static int act_as(unsigned long id)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct caps[2];

	setfsgid((gid_t)id);
	setfsuid((uid_t)id); /* takes what root may do with files from the effective set */
	if (syscall(SYS_capget, &header, caps) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		caps[i].effective = caps[i].permitted;
	return (int)syscall(SYS_capset, &header, caps);
}

int idmap_mount_overlay(const struct idmap *map, const char *options, const char *at,
			struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	int rc = act_as(map->start);

	/* "volatile": see the other mount, of steps without a namespace */
	if (rc == 0)
		rc = mount("overlay", at, "overlay", 0,
			   arena_printf(&arena, "%s,volatile", options));
	if (rc < 0)
		rc = mount("overlay", at, "overlay", MS_NODEV, options);
	if (rc < 0)
		error_errno(err, "cannot mount the layers on %s", at);
	if (act_as(0) < 0 && rc == 0)
		return error_errno(err, "cannot become root again");
	return rc;
}
