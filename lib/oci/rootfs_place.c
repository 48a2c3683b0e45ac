/* SPDX-License-Identifier: MIT */
#include "oci/rootfs_place.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define OPEN_AGAIN_S 30

/*
 * As if the tree were "/": no link and no ".." leads out of it. A rename anywhere on the machine
 * while a ".." is followed makes it EAGAIN: openat2(2).
 */
static int open_inside(const struct layer_place *place, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
	uint64_t begin = 0;
	int fd;

	while ((fd = (int)syscall(SYS_openat2, place->root, *path ? path : ".", &how,
				  sizeof(how))) < 0 &&
	       errno == EAGAIN) {
		begin = begin ? begin : clock_usec();
		if (clock_seconds_since(begin) > OPEN_AGAIN_S)
			break;
		sched_yield();
	}
	return fd;
}

static uint64_t hash_of(const char *text)
{
	uint64_t hash = 14695981039346656037ULL; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
	return hash;
}

static const char **own_slot(const struct layer_place *place, const char *path)
{
	size_t at = hash_of(path) & (place->own_room - 1);

	while (place->own[at] && strcmp(place->own[at], path) != 0)
		at = (at + 1) & (place->own_room - 1);
	return &place->own[at];
}

bool layer_place_is_own(const struct layer_place *place, const char *path)
{
	return place->own_room && *own_slot(place, path);
}

static const char *note_own(struct layer_place *place, const char *path)
{
	const char **old = place->own, **slot;
	size_t room = place->own_room;

	if (2 * (place->own_count + 1) > room) {
		place->own_room = room ? 4 * room : 1024;
		place->own = xmalloc(place->own_room * sizeof(*place->own));
		memset(place->own, 0, place->own_room * sizeof(*place->own));
		for (size_t i = 0; i < room; i++)
			if (old[i])
				*own_slot(place, old[i]) = old[i];
		free(old);
	}
	slot = own_slot(place, path);
	if (!*slot) {
		*slot = arena_strdup(&place->arena, path);
		place->own_count++;
	}
	return *slot;
}

void layer_place_forget(struct layer_place *place)
{
	free(place->parent);
	place->parent = NULL;
	fd_close(&place->parent_fd);
}

/* Every folder on the way that is missing. */
static int make_folders(const struct layer_place *place, const char *folder)
{
	char part[ROOTFS_PATH_BYTES];
	const char *slash = folder;

	while (slash) {
		_cleanup_(fd_close) int up = -1;
		const char *begin = slash == folder ? folder : slash + 1;

		snprintf(part, sizeof(part), "%.*s", (int)(begin - folder), folder);
		up = open_inside(place, part, O_PATH | O_DIRECTORY);
		if (up < 0)
			return -1;
		slash = strchr(begin, '/');
		snprintf(part, sizeof(part), "%.*s",
			 slash ? (int)(slash - begin) : (int)strlen(begin), begin);
		if (mkdirat(up, part, 0755) < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

int layer_place_parent(struct layer_place *place, const char *path, const char **name,
		       struct error *err)
{
	const char *slash = strrchr(path, '/');
	size_t length = slash ? (size_t)(slash - path) : 0;
	char folder[ROOTFS_PATH_BYTES];

	*name = slash ? slash + 1 : path;
	if (place->parent && strncmp(place->parent, path, length) == 0 && !place->parent[length])
		return 0;
	layer_place_forget(place);
	snprintf(folder, sizeof(folder), "%.*s", (int)length, path);
	place->parent_fd = open_inside(place, folder, O_PATH | O_DIRECTORY);
	if (place->parent_fd < 0 && errno == ENOENT && make_folders(place, folder) == 0)
		place->parent_fd = open_inside(place, folder, O_PATH | O_DIRECTORY);
	if (place->parent_fd < 0)
		return error_errno(err, "cannot enter the folder of %s", path);
	place->parent = strdup(folder);
	if (!place->parent)
		oom();
	return 0;
}

static int rootfs_place_failed(const char *path, struct error *err)
{
	bool is_full = errno == ENOSPC || errno == EDQUOT;

	error_errno(err, "cannot unpack %s", path);
	return is_full ? error_advise(err, "free space there and run the same command again") : -1;
}

/* Removes what a lower layer, or an earlier entry, has there. `errno` says what was in the way. */
static int make_way(struct layer_place *place, const char *name, const char *path,
		    struct error *err)
{
	if (errno != EEXIST)
		return rootfs_place_failed(path, err);
	return layer_place_remove(place, place->parent_fd, name, path, false, err);
}

static int write_data(struct layer_place *place, int fd, const char *path, int64_t size,
		      struct error *err)
{
	const void *bytes;
	la_int64_t offset, end = 0;
	size_t length;
	int rc;

	while ((rc = archive_read_data_block(place->tar, &bytes, &length, &offset)) == ARCHIVE_OK) {
		const char *p = bytes;

		end = offset + (la_int64_t)length;
		while (length) {
			ssize_t done = pwrite(fd, p, length, offset);

			if (done < 0 && errno == EINTR)
				continue;
			if (done < 0)
				return rootfs_place_failed(path, err);
			p += done;
			offset += done;
			length -= (size_t)done;
		}
		if (interrupt_check(err) < 0)
			return -1;
	}
	if (rc != ARCHIVE_EOF)
		return error_set(err, ERROR_FAILED, "%s", archive_error_string(place->tar));
	return end < size && ftruncate(fd, size) < 0 ? rootfs_place_failed(path, err) : 0;
}

/* They would say more of the tree than the layer does, where it becomes a layer of an overlay. */
static bool is_overlays(const char *name)
{
	return starts_with(name, "trusted.overlay.") || starts_with(name, "user.overlay.");
}

static int set_attributes(struct layer_place *place, struct archive_entry *entry, const char *name,
			  const char *path, struct error *err)
{
	char disk[ROOTFS_PATH_BYTES + 64];
	const char *key;
	const void *value;
	size_t length;

	snprintf(disk, sizeof(disk), "/proc/self/fd/%d/%s", place->parent_fd, name);
	archive_entry_xattr_reset(entry);
	while (archive_entry_xattr_next(entry, &key, &value, &length) == ARCHIVE_OK) {
		if (is_overlays(key) || lsetxattr(disk, key, value, length, 0) == 0)
			continue;
		if (errno != ENOTSUP && (errno != EPERM || place->is_root))
			return rootfs_place_failed(path, err);
		place->lost_attributes++;
	}
	return 0;
}

static void times_of(struct archive_entry *entry, struct timespec times[2])
{
	times[1] = (struct timespec){archive_entry_mtime(entry), archive_entry_mtime_nsec(entry)};
	times[0] = times[1];
	if (archive_entry_atime_is_set(entry))
		times[0] = (struct timespec){archive_entry_atime(entry),
					     archive_entry_atime_nsec(entry)};
}

/* Owner first: it takes setuid bits and capabilities away. */
static int set_rest(struct layer_place *place, struct archive_entry *entry, const char *name,
		    const char *path, struct error *err)
{
	unsigned int type = archive_entry_filetype(entry);
	struct timespec times[2];

	if (place->is_root && fchownat(place->parent_fd, name, (uid_t)archive_entry_uid(entry),
				       (gid_t)archive_entry_gid(entry), AT_SYMLINK_NOFOLLOW) < 0)
		return rootfs_place_failed(path, err);
	if (type != AE_IFLNK && type != AE_IFDIR &&
	    fchmodat(place->parent_fd, name, archive_entry_perm(entry), 0) < 0)
		return rootfs_place_failed(path, err);
	if (set_attributes(place, entry, name, path, err) < 0)
		return -1;
	times_of(entry, times);
	if (type != AE_IFDIR && utimensat(place->parent_fd, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		return rootfs_place_failed(path, err);
	return 0;
}

static int place_file(struct layer_place *place, struct archive_entry *entry, const char *name,
		      const char *path, struct error *err)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	_cleanup_(fd_close) int fd = openat(place->parent_fd, name, flags, 0600);

	if (fd < 0) {
		if (make_way(place, name, path, err) < 0 ||
		    layer_place_parent(place, path, &name, err) < 0)
			return -1;
		fd = openat(place->parent_fd, name, flags, 0600);
	}
	if (fd < 0)
		return rootfs_place_failed(path, err);
	return write_data(place, fd, path, archive_entry_size(entry), err);
}

/* One try at what is neither a file nor a hard link. */
static int rootfs_place_make(struct layer_place *place, struct archive_entry *entry,
			     const char *name)
{
	switch (archive_entry_filetype(entry)) {
	case AE_IFDIR:
		return mkdirat(place->parent_fd, name, 0700);
	case AE_IFLNK:
		return symlinkat(archive_entry_symlink(entry), place->parent_fd, name);
	default:
		return mknodat(place->parent_fd, name, archive_entry_filetype(entry) | 0600,
			       archive_entry_rdev(entry));
	}
}

static bool rootfs_place_is_folder(const struct layer_place *place, const char *name)
{
	struct stat st;

	return fstatat(place->parent_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode);
}

static int place_other(struct layer_place *place, struct archive_entry *entry, const char *name,
		       const char *path, struct error *err)
{
	if (rootfs_place_make(place, entry, name) == 0)
		return 0;
	if (errno == EEXIST && archive_entry_filetype(entry) == AE_IFDIR &&
	    rootfs_place_is_folder(place, name))
		return 0;
	errno = errno == ENOTDIR ? ENOTDIR : errno;
	if (make_way(place, name, path, err) < 0 || layer_place_parent(place, path, &name, err) < 0)
		return -1;
	return rootfs_place_make(place, entry, name) < 0 ? rootfs_place_failed(path, err) : 0;
}

static int rootfs_place_link(struct layer_place *place, const char *target, const char *name,
			     const char *path, struct error *err)
{
	_cleanup_(fd_close) int folder = -1;
	char to[ROOTFS_PATH_BYTES], up[ROOTFS_PATH_BYTES];
	const char *slash;

	if (!path_plain(target, to) || !*to)
		return error_set(err, ERROR_FAILED,
				 "the hard link '%.100s' leads out of the layer to '%.100s'", path,
				 target);
	if (strcmp(to, path) == 0)
		return 0;
	slash = strrchr(to, '/');
	snprintf(up, sizeof(up), "%.*s", slash ? (int)(slash - to) : 0, to);
	folder = open_inside(place, up, O_PATH | O_DIRECTORY);
	if (folder < 0)
		return rootfs_place_failed(path, err);
	slash = slash ? slash + 1 : to;
	if (linkat(folder, slash, place->parent_fd, name, 0) == 0)
		return 0;
	if (make_way(place, name, path, err) < 0 || layer_place_parent(place, path, &name, err) < 0)
		return -1;
	return linkat(folder, slash, place->parent_fd, name, 0) < 0 ? rootfs_place_failed(path, err)
								    : 0;
}

static void note_folder(struct layer_place *place, struct archive_entry *entry, const char *path)
{
	struct late_folder *late = ARENA_NEW(&place->arena, struct late_folder);

	late->path = path;
	late->mode = archive_entry_perm(entry);
	times_of(entry, late->times);
	late->next = place->folders;
	place->folders = late;
}

static bool is_device(struct archive_entry *entry)
{
	unsigned int type = archive_entry_filetype(entry);

	return type == AE_IFCHR || type == AE_IFBLK;
}

static int place_at(struct layer_place *place, struct archive_entry *entry, const char *path,
		    struct error *err)
{
	const char *hard = archive_entry_hardlink(entry), *name, *own = note_own(place, path);
	int rc;

	if (layer_place_parent(place, path, &name, err) < 0)
		return -1;
	if (hard)
		return rootfs_place_link(place, hard, name, path, err);
	rc = archive_entry_filetype(entry) == AE_IFREG ? place_file(place, entry, name, path, err)
						       : place_other(place, entry, name, path, err);
	if (rc < 0 || layer_place_parent(place, path, &name, err) < 0)
		return -1;
	if (archive_entry_filetype(entry) == AE_IFDIR)
		note_folder(place, entry, own);
	return set_rest(place, entry, name, path, err);
}

int layer_place_entry(struct layer_place *place, struct archive_entry *entry, struct error *err)
{
	const char *name = archive_entry_pathname(entry);
	char path[ROOTFS_PATH_BYTES];
	bool is_mark;

	if (interrupt_check(err) < 0)
		return -1;
	if (!name || !path_plain(name, path))
		return error_set(
			err, ERROR_FAILED,
			"the entry '%.100s' leads out of the layer, or its name is too long",
			name ? name : "");
	if (!*path) { /* the tree itself */
		if (archive_entry_filetype(entry) == AE_IFDIR)
			note_folder(place, entry, "");
		return 0;
	}
	if (layer_place_mark(place, path, &is_mark, err) < 0)
		return -1;
	if (is_mark || (is_device(entry) && !place->is_root && !archive_entry_hardlink(entry)))
		return 0;
	return place_at(place, entry, path, err);
}

int layer_place_end(struct layer_place *place, struct error *err)
{
	for (struct late_folder *f = place->folders; f; f = f->next) {
		_cleanup_(fd_close) int fd =
			open_inside(place, f->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);

		if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
			continue; /* replaced later in the layer */
		/* without root, the layers above could not get in */
		if (fd < 0 || fchmod(fd, place->is_root ? f->mode : f->mode | 0700) < 0 ||
		    futimens(fd, f->times) < 0)
			return rootfs_place_failed(f->path, err);
	}
	return 0;
}

void layer_place_release(struct layer_place *place)
{
	layer_place_forget(place);
	free(place->own);
	arena_release(&place->arena);
}
