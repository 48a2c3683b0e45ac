/* SPDX-License-Identifier: MIT */
/* Layers and trees onto a disk. */
#include "builder/native/layer/layer.h"

#include "builder/native/layer/layer_entry.h"
#include "builder/native/layer/tar_source.h"
#include "builder/native/runtime/userns.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define COPY_BYTES (256 * KIB)

struct placer {
	struct archive *disk;
	char root[TREE_PATH_BYTES]; /* without links in it: libarchive refuses to go through one */
	locale_t utf8, before;
	struct error *err;
};

static int open_placer(struct placer *p, const char *folder, struct error *err)
{
	int flags = ARCHIVE_EXTRACT_PERM | ARCHIVE_EXTRACT_TIME | ARCHIVE_EXTRACT_XATTR |
		    ARCHIVE_EXTRACT_SECURE_SYMLINKS | ARCHIVE_EXTRACT_SECURE_NODOTDOT |
		    ARCHIVE_EXTRACT_SPARSE;
	_cleanup_(free_pointer) char *real = NULL;

	*p = (struct placer){.err = err};
	if (folder_make(folder, 0755, err) < 0)
		return -1;
	real = realpath(folder, NULL);
	if (!real || strlen(real) >= TREE_PATH_BYTES / 2)
		return error_errno(err, "cannot enter %s", folder);
	snprintf(p->root, sizeof(p->root), "%s", real);
	if (geteuid() == 0)
		flags |= ARCHIVE_EXTRACT_OWNER;
	p->disk = archive_write_disk_new();
	p->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!p->disk || !p->utf8)
		oom();
	archive_write_disk_set_options(p->disk, flags);
	p->before = uselocale(p->utf8);
	return 0;
}

static int place_failed(struct placer *p, const char *path)
{
	const char *why = archive_error_string(p->disk);
	const char *text = why ? why : strerror(errno);

	if (p->err->kind)
		return -1;
	error_set(p->err, ERROR_FAILED, "cannot unpack %s: %s", path, text);
	if (archive_errno(p->disk) == ENOSPC)
		return error_advise(p->err, "free space under %s and run this again", p->root);
	return -1;
}

static int close_placer(struct placer *p, int rc)
{
	if (!p->disk)
		return rc;
	if (rc == 0 && archive_write_close(p->disk) != ARCHIVE_OK)
		rc = place_failed(p, "the folders");
	archive_write_free(p->disk);
	uselocale(p->before);
	freelocale(p->utf8);
	return rc;
}

static int make_opaque(struct placer *p, const char *folder)
{
	if (lsetxattr(folder, "trusted.overlay.opaque", "y", 1, 0) == 0 ||
	    lsetxattr(folder, "user.overlay.opaque", "y", 1, 0) == 0)
		return 0;
	return error_errno(p->err, "cannot mark %s as opaque", folder);
}

/* `disk` must be gone below this layer. */
static int make_whiteout(struct placer *p, const char *disk)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct stat st;

	if (lstat(disk, &st) == 0)
		return S_ISDIR(st.st_mode) ? make_opaque(p, disk) : 0;
	if (folder_make(path_folder(&arena, disk), 0755, p->err) < 0)
		return -1;
	if (mknod(disk, S_IFCHR, makedev(0, 0)) < 0)
		return error_errno(p->err, "cannot make the whiteout %s", disk);
	return 0;
}

/* Marks are made without libarchive, which lets no entry lie behind a link. */
static int check_folders(struct placer *p, const char *path)
{
	char disk[2 * TREE_PATH_BYTES];
	struct stat st;

	for (const char *slash = path; (slash = strchr(slash, '/')); slash++) {
		snprintf(disk, sizeof(disk), "%s/%.*s", p->root, (int)(slash - path), path);
		if (lstat(disk, &st) == 0 && !S_ISDIR(st.st_mode))
			return error_set(p->err, ERROR_FAILED,
					 "the entry '%.100s' lies behind a link or a file", path);
	}
	return 0;
}

/* Whiteouts as the tar has them; *done tells whether the entry was one. */
static int place_mark(struct placer *p, const char *path, bool *done)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *folder;

	*done = starts_with(name, WHITEOUT_PREFIX);
	if (!*done)
		return 0;
	if (check_folders(p, path) < 0)
		return -1;
	folder = arena_printf(&arena, "%s%s%.*s", p->root, slash ? "/" : "",
			      slash ? (int)(slash - path) : 0, path);
	if (strcmp(name, WHITEOUT_OPAQUE) == 0)
		return folder_make(folder, 0755, p->err) < 0 ? -1 : make_opaque(p, folder);
	if (starts_with(name, WHITEOUT_AUFS))
		return 0;
	return make_whiteout(p,
			     arena_printf(&arena, "%s/%s", folder, name + strlen(WHITEOUT_PREFIX)));
}

static void set_place(struct placer *p, struct archive_entry *entry, const char *path)
{
	char disk[2 * TREE_PATH_BYTES], link[TREE_PATH_BYTES];
	const char *hard = archive_entry_hardlink(entry);

	snprintf(disk, sizeof(disk), "%s/%s", p->root, path);
	archive_entry_set_pathname(entry, disk);
	if (hard && path_plain(hard, link)) {
		snprintf(disk, sizeof(disk), "%s/%s", p->root, link);
		archive_entry_set_hardlink(entry, disk);
	}
}

static int layer_unpack_refuse(struct placer *p, const char *name)
{
	return error_set(p->err, ERROR_FAILED,
			 "the entry '%.100s' leads out of the layer, or its name is too long",
			 name);
}

static int layer_unpack_copy_data(struct placer *p, struct tar_source *source, const char *path)
{
	const void *bytes;
	la_int64_t offset;
	size_t length;
	int rc;

	while ((rc = archive_read_data_block(source->tar, &bytes, &length, &offset)) == ARCHIVE_OK)
		if (archive_write_data_block(p->disk, bytes, length, offset) < ARCHIVE_OK)
			return place_failed(p, path);
	return rc == ARCHIVE_EOF ? 0 : tar_source_failed(source);
}

/* They would say more of a folder than the layer does. */
static void drop_overlay_attributes(struct archive_entry *entry)
{
	struct archive_entry *all = archive_entry_clone(entry);
	const char *name;
	const void *value;
	size_t length;

	archive_entry_xattr_clear(entry);
	archive_entry_xattr_reset(all);
	while (archive_entry_xattr_next(all, &name, &value, &length) == ARCHIVE_OK)
		if (!starts_with(name, "trusted.overlay.") && !starts_with(name, "user.overlay."))
			archive_entry_xattr_add_entry(entry, name, value, length);
	archive_entry_free(all);
}

/* Owners and attributes are set at an entry's end. Without root some cannot be: that is fine. */
static int finish_entry(struct placer *p, const char *path)
{
	int rc = archive_write_finish_entry(p->disk);

	return rc == ARCHIVE_OK || (rc == ARCHIVE_WARN && geteuid() != 0) ? 0
									  : place_failed(p, path);
}

static bool is_whiteout(const char *disk)
{
	struct stat st;

	return lstat(disk, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0);
}

/* Only the machine's own root makes them. None is missed: a container has a /dev of its own. */
static bool is_device_denied(struct placer *p, struct archive_entry *entry)
{
	unsigned int type = archive_entry_filetype(entry);

	return (type == AE_IFCHR || type == AE_IFBLK) && archive_errno(p->disk) == EPERM &&
	       userns_inside();
}

static int layer_unpack_place(struct placer *p, struct archive_entry *entry, const char *path,
			      struct tar_source *source)
{
	const char *disk = archive_entry_pathname(entry);
	/* removed below and made again here: nothing of what was in it shows through */
	bool alone = archive_entry_filetype(entry) == AE_IFDIR && is_whiteout(disk);

	if (archive_write_header(p->disk, entry) < ARCHIVE_OK)
		return is_device_denied(p, entry) ? 0 : place_failed(p, path);
	if (archive_entry_size(entry) > 0 && layer_unpack_copy_data(p, source, path) < 0)
		return -1;
	if (finish_entry(p, path) < 0)
		return -1;
	return alone ? make_opaque(p, disk) : 0;
}

static int unpack_entry(struct placer *p, struct tar_source *source, struct archive_entry *entry)
{
	const char *name = archive_entry_pathname(entry), *hard = archive_entry_hardlink(entry);
	char path[TREE_PATH_BYTES], link[TREE_PATH_BYTES];
	bool is_mark;

	if (!name || !path_plain(name, path) || (hard && !path_plain(hard, link)))
		return layer_unpack_refuse(p, name ? name : "");
	if (place_mark(p, path, &is_mark) < 0)
		return -1;
	if (is_mark)
		return 0;
	set_place(p, entry, path);
	drop_overlay_attributes(entry);
	return layer_unpack_place(p, entry, path, source);
}

static int layer_unpack_all(struct placer *p, struct tar_source *source)
{
	struct archive_entry *entry;
	int rc;

	while ((rc = archive_read_next_header(source->tar, &entry)) == ARCHIVE_OK ||
	       rc == ARCHIVE_WARN)
		if (unpack_entry(p, source, entry) < 0)
			return -1;
	return rc == ARCHIVE_EOF ? 0 : tar_source_failed(source);
}

static int layer_unpack_give_up(const char *folder, int rc)
{
	struct error ignored = {0};

	if (rc < 0)
		folder_remove(folder, &ignored);
	return rc;
}

int layer_unpack(const char *tar_path, const char *folder, const char *diff_id, struct error *err)
{
	_cleanup_(tar_source_release) struct tar_source source = {.fd = -1};
	struct placer p;
	int rc;

	if (tar_source_open(&source, tar_path, err) < 0 || open_placer(&p, folder, err) < 0)
		return -1;
	rc = layer_unpack_all(&p, &source);
	if (rc == 0)
		rc = tar_source_finish(&source, diff_id);
	return layer_unpack_give_up(folder, close_placer(&p, rc));
}

static int place_content(struct placer *p, const struct tree_entry *entry)
{
	_cleanup_(free_pointer) char *buffer = xmalloc(COPY_BYTES);
	_cleanup_(fd_close) int fd = -1;
	ssize_t got;

	if (!entry->source) {
		if (archive_write_data(p->disk, entry->text, entry->size_bytes) < 0)
			return place_failed(p, entry->path);
		return 0;
	}
	fd = open(entry->source, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(p->err, "cannot read %s", entry->source);
	while ((got = read(fd, buffer, COPY_BYTES)) > 0)
		if (archive_write_data(p->disk, buffer, (size_t)got) < 0)
			return place_failed(p, entry->path);
	return got < 0 ? error_errno(p->err, "cannot read %s", entry->source) : 0;
}

static int place_entry(struct placer *p, const struct tree_entry *entry)
{
	char disk[2 * TREE_PATH_BYTES];
	struct archive_entry *out;
	int rc = 0;

	snprintf(disk, sizeof(disk), "%s/%s", p->root, entry->path);
	if (interrupt_check(p->err) < 0)
		return -1;
	if (entry->type == TREE_WHITEOUT)
		return make_whiteout(p, disk);
	out = layer_entry_new(entry);
	set_place(p, out, entry->path);
	if (archive_write_header(p->disk, out) < ARCHIVE_OK)
		rc = place_failed(p, entry->path);
	else if (entry->type == TREE_FILE)
		rc = place_content(p, entry);
	if (rc == 0)
		rc = finish_entry(p, entry->path);
	archive_entry_free(out);
	return rc == 0 && entry->opaque ? make_opaque(p, disk) : rc;
}

int layer_place(const struct tree *tree, const char *folder, struct error *err)
{
	struct placer p;
	int rc = 0;

	if (open_placer(&p, folder, err) < 0)
		return -1;
	for (size_t i = 0; rc == 0 && i < tree->count; i++)
		rc = place_entry(&p, &tree->list[i]);
	return layer_unpack_give_up(folder, close_placer(&p, rc));
}
