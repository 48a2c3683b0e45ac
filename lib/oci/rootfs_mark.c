/* SPDX-License-Identifier: MIT */
/* What a layer removes: whiteouts, opaque folders, and what is in an entry's way. */
#include "core/file.h"
#include "core/str.h"
#include "oci/rootfs_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MARK ".wh."
#define MARK_OPAQUE ".wh..wh..opq"
#define MARK_OTHER ".wh..wh." /* aufs' bookkeeping: nothing is removed */

static void folder_close(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}

/* All that is in the folder. */
static int rootfs_mark_clear(struct layer_place *place, int parent, const char *name,
			     const char *path, bool spare_own, struct error *err)
{
	_cleanup_(folder_close) DIR *folder = NULL;
	const struct dirent *entry;
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	folder = fd < 0 ? NULL : fdopendir(fd);
	if (!folder) {
		fd_close(&fd);
		return error_errno(err, "cannot look into %s", path);
	}
	while ((entry = readdir(folder))) {
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;

		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (layer_place_remove(
			    place, dirfd(folder), entry->d_name,
			    arena_printf(&arena, "%s%s%s", path, *path ? "/" : "", entry->d_name),
			    spare_own, err) < 0)
			return -1;
	}
	return 0;
}

int layer_place_remove(struct layer_place *place, int parent, const char *name, const char *path,
		       bool spare_own, struct error *err)
{
	bool spared = spare_own && layer_place_is_own(place, path);
	struct stat st;

	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : error_errno(err, "cannot look at %s", path);
	if (!S_ISDIR(st.st_mode)) {
		if (spared || unlinkat(parent, name, 0) == 0)
			return 0;
		return error_errno(err, "cannot remove %s", path);
	}
	if (rootfs_mark_clear(place, parent, name, path, spare_own, err) < 0)
		return -1;
	if (spared || unlinkat(parent, name, AT_REMOVEDIR) == 0)
		return 0;
	/* something of this layer is in it */
	return spare_own && (errno == ENOTEMPTY || errno == EEXIST)
		       ? 0
		       : error_errno(err, "cannot remove %s", path);
}

static int rootfs_mark_remove_below(struct layer_place *place, const char *path, struct error *err)
{
	const char *name;
	int rc;

	if (layer_place_parent(place, path, &name, err) < 0)
		return -1;
	rc = layer_place_remove(place, place->parent_fd, name, path, true, err);
	layer_place_forget(place);
	return rc;
}

/* What lower layers have in the folder; the folder itself stays. */
static int clear_below(struct layer_place *place, const char *path, struct error *err)
{
	char inside[ROOTFS_PATH_BYTES + 8];
	const char *name;
	int rc;

	snprintf(inside, sizeof(inside), "%s%sx", path, *path ? "/" : "");
	if (layer_place_parent(place, inside, &name, err) < 0)
		return -1;
	rc = rootfs_mark_clear(place, place->parent_fd, ".", path, true, err);
	layer_place_forget(place);
	return rc;
}

int layer_place_mark(struct layer_place *place, const char *path, bool *is_mark, struct error *err)
{
	const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
	int folder_length = slash ? (int)(slash - path) : 0;
	char target[ROOTFS_PATH_BYTES];

	*is_mark = starts_with(base, MARK);
	if (!*is_mark)
		return 0;
	snprintf(target, sizeof(target), "%.*s", folder_length, path);
	if (strcmp(base, MARK_OPAQUE) == 0)
		return clear_below(place, target, err);
	if (starts_with(base, MARK_OTHER))
		return 0;
	base += strlen(MARK);
	if (!*base || strcmp(base, ".") == 0 || strcmp(base, "..") == 0)
		return error_set(err, ERROR_FAILED, "the whiteout '%.100s' names nothing", path);
	snprintf(target, sizeof(target), "%.*s%s%s", folder_length, path, slash ? "/" : "", base);
	return rootfs_mark_remove_below(place, target, err);
}
