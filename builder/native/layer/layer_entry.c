/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/layer_entry.h"

#include "builder/native/layer/layer.h"
#include "core/arena.h"
#include "oci/layer/whiteout.h"

#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PROBE_BYTES 4096

static const unsigned int types[] = {
	[TREE_FILE] = AE_IFREG,	    [TREE_FOLDER] = AE_IFDIR,	 [TREE_SYMLINK] = AE_IFLNK,
	[TREE_HARDLINK] = AE_IFREG, [TREE_CHARACTER] = AE_IFCHR, [TREE_BLOCK] = AE_IFBLK,
	[TREE_FIFO] = AE_IFIFO,	    [TREE_WHITEOUT] = AE_IFREG,
};

static struct archive_entry *plain_entry(const char *folder, size_t folder_bytes, const char *mark,
					 const char *name)
{
	struct archive_entry *out = archive_entry_new();
	char path[TREE_PATH_BYTES + 16];

	if (!out)
		oom();
	snprintf(path, sizeof(path), "%.*s%s%s", (int)folder_bytes, folder, mark, name);
	archive_entry_set_pathname(out, path);
	archive_entry_set_filetype(out, AE_IFREG);
	archive_entry_set_size(out, 0);
	archive_entry_set_mtime(out, 0, 0);
	return out;
}

struct archive_entry *layer_entry_opaque(const struct tree_entry *folder)
{
	size_t length = strlen(folder->path);

	return plain_entry(folder->path, length, length ? "/" : "", WHITEOUT_OPAQUE_NAME);
}

struct archive_entry *layer_entry_new(const struct tree_entry *entry)
{
	const char *slash = strrchr(entry->path, '/');
	const char *name = slash ? slash + 1 : entry->path;
	struct archive_entry *out;

	if (entry->type == TREE_WHITEOUT)
		return plain_entry(entry->path, (size_t)(name - entry->path), WHITEOUT_PREFIX,
				   name);
	out = plain_entry(entry->path, strlen(entry->path), "", "");
	archive_entry_set_filetype(out, types[entry->type]);
	archive_entry_set_perm(out, entry->mode);
	archive_entry_set_uid(out, entry->uid);
	archive_entry_set_gid(out, entry->gid);
	archive_entry_set_mtime(out, entry->mtime_s, 0);
	if (entry->type == TREE_FILE)
		archive_entry_set_size(out, (la_int64_t)entry->size_bytes);
	if (entry->type == TREE_SYMLINK)
		archive_entry_set_symlink(out, entry->link);
	if (entry->type == TREE_HARDLINK)
		archive_entry_set_hardlink(out, entry->link);
	if (entry->type == TREE_CHARACTER || entry->type == TREE_BLOCK)
		archive_entry_set_rdev(out, entry->device);
	for (const struct tree_attribute *a = entry->attributes; a; a = a->next)
		archive_entry_xattr_add_entry(out, a->name, a->value, a->length);
	return out;
}

static bool all_zero(const char *bytes, size_t length)
{
	return !length || (!bytes[0] && memcmp(bytes, bytes + 1, length - 1) == 0);
}

/* Whether the block is zeros: most others show it in their first bytes. */
static int is_hole(int fd, uint64_t offset, size_t length, char *buffer, bool *hole)
{
	off_t data = lseek(fd, (off_t)offset, SEEK_DATA);
	size_t probe = length < PROBE_BYTES ? length : PROBE_BYTES;

	*hole = true;
	if ((data < 0 && errno == ENXIO) || data >= (off_t)(offset + length))
		return 0;
	if (pread(fd, buffer, probe, (off_t)offset) != (ssize_t)probe)
		return -1;
	*hole = all_zero(buffer, probe);
	if (!*hole || probe == length)
		return 0;
	if (pread(fd, buffer, length, (off_t)offset) != (ssize_t)length)
		return -1;
	*hole = all_zero(buffer, length);
	return 0;
}

int layer_entry_holes(struct archive_entry *out, int fd, const struct tree_entry *entry,
		      struct error *err)
{
	_cleanup_(free_pointer) char *buffer = NULL;
	uint64_t size = entry->size_bytes, data_from = 0;
	bool any = false, in_data = false, hole;

	if (size < 2 * LAYER_HOLE_BYTES)
		return 0;
	buffer = xmalloc(LAYER_HOLE_BYTES);
	for (uint64_t offset = 0; offset < size; offset += LAYER_HOLE_BYTES) {
		uint64_t length = size - offset;

		if (length > LAYER_HOLE_BYTES)
			length = LAYER_HOLE_BYTES;
		if (is_hole(fd, offset, (size_t)length, buffer, &hole) < 0)
			return error_errno(err, "cannot read %s", entry->source);
		if (hole && in_data)
			archive_entry_sparse_add_entry(out, (la_int64_t)data_from,
						       (la_int64_t)(offset - data_from));
		if (!hole && !in_data)
			data_from = offset;
		in_data = !hole;
		any = any || hole;
	}
	if (in_data)
		archive_entry_sparse_add_entry(out, (la_int64_t)data_from,
					       (la_int64_t)(size - data_from));
	else
		archive_entry_sparse_add_entry(out, (la_int64_t)size, 0);
	if (!any)
		archive_entry_sparse_clear(out);
	return lseek(fd, 0, SEEK_SET) < 0 ? error_errno(err, "cannot read %s", entry->source) : 0;
}
