/* SPDX-License-Identifier: MIT */
/* What is in a layer's file, without unpacking it to a disk. */
#include "builder/native/layer/layer.h"

#include "builder/native/layer/layer_entry.h"
#include "builder/native/layer/tar_source.h"
#include "core/str.h"

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>
#include <string.h>

static enum tree_type layer_list_type_of(struct archive_entry *entry)
{
	if (archive_entry_hardlink(entry))
		return TREE_HARDLINK;
	switch (archive_entry_filetype(entry)) {
	case AE_IFDIR:
		return TREE_FOLDER;
	case AE_IFLNK:
		return TREE_SYMLINK;
	case AE_IFCHR:
		return TREE_CHARACTER;
	case AE_IFBLK:
		return TREE_BLOCK;
	case AE_IFIFO:
		return TREE_FIFO;
	default:
		return TREE_FILE;
	}
}

/* "./a/b/" as "a/b", in place. */
static char *plain(char *path)
{
	size_t length;

	while (*path == '/' || starts_with(path, "./"))
		path++;
	if (strcmp(path, ".") == 0)
		path++;
	length = strlen(path);
	while (length && path[length - 1] == '/')
		path[--length] = '\0';
	return path;
}

/* The folder's entry may come later, or never. */
static void add_opaque(struct tree *tree, const char *path)
{
	size_t i = tree->count;

	while (i && strcmp(tree->list[i - 1].path, path) != 0)
		i--;
	if (!i) {
		tree_add(tree, TREE_FOLDER, path)->mode = 0755;
		i = tree->count;
	}
	tree->list[i - 1].opaque = true;
}

static void layer_list_add_entry(struct tree *tree, struct archive_entry *in)
{
	char *path = plain(arena_strdup(&tree->arena, archive_entry_pathname(in)));
	char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	struct tree_entry *entry;
	const char *link = NULL;

	if (strcmp(name, WHITEOUT_OPAQUE) == 0) {
		*(slash ? slash : path) = '\0';
		add_opaque(tree, path);
		return;
	}
	if (starts_with(name, WHITEOUT_AUFS))
		return;
	if (starts_with(name, WHITEOUT_PREFIX)) {
		memmove(name, name + strlen(WHITEOUT_PREFIX),
			strlen(name + strlen(WHITEOUT_PREFIX)) + 1);
		tree_add(tree, TREE_WHITEOUT, path);
		return;
	}
	entry = tree_add(tree, layer_list_type_of(in), path);
	entry->mode = archive_entry_perm(in);
	entry->uid = (uid_t)archive_entry_uid(in);
	entry->gid = (gid_t)archive_entry_gid(in);
	entry->mtime_s = archive_entry_mtime(in);
	entry->size_bytes = (uint64_t)archive_entry_size(in);
	if (entry->type == TREE_CHARACTER || entry->type == TREE_BLOCK)
		entry->device = archive_entry_rdev(in);
	if (entry->type == TREE_SYMLINK)
		link = archive_entry_symlink(in);
	if (entry->type == TREE_HARDLINK)
		link = archive_entry_hardlink(in);
	if (entry->type == TREE_SYMLINK || entry->type == TREE_HARDLINK)
		entry->link = arena_strdup(&tree->arena, link ? link : "");
	if (entry->type == TREE_HARDLINK)
		entry->link = plain(arena_strdup(&tree->arena, entry->link));
}

static int list_all(struct tar_source *source, struct tree *tree, struct error *err)
{
	struct archive_entry *entry;
	int rc;

	while ((rc = archive_read_next_header(source->tar, &entry)) == ARCHIVE_OK ||
	       rc == ARCHIVE_WARN) {
		if (tree->count == TREE_ENTRIES_MAX)
			return error_set(err, ERROR_FAILED, "%s holds more than %d files",
					 source->path, TREE_ENTRIES_MAX);
		if (archive_entry_pathname(entry))
			layer_list_add_entry(tree, entry);
	}
	return rc == ARCHIVE_EOF ? 0 : tar_source_failed(source);
}

int layer_list(const char *tar_path, struct tree *tree, struct error *err)
{
	_cleanup_(tar_source_release) struct tar_source source = {.fd = -1};
	/* names are UTF-8, whatever the person's locale is */
	locale_t utf8, before;
	int rc;

	if (tar_source_open(&source, tar_path, err) < 0)
		return -1;
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!utf8)
		oom();
	before = uselocale(utf8);
	rc = list_all(&source, tree, err);
	uselocale(before);
	freelocale(utf8);
	if (rc == 0)
		tree_sort(tree);
	return rc;
}
