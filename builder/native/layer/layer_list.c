/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/layer_list.h"

#include "oci/layer/reader.h"
#include "oci/layer/whiteout.h"

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

static int layer_list_add_links(struct tree *tree, struct archive_entry *in,
				struct tree_entry *entry, struct error *err)
{
	const char *hard = archive_entry_hardlink(in), *soft = archive_entry_symlink(in);
	char plain[PATH_PLAIN_BYTES];

	if (entry->type == TREE_SYMLINK)
		entry->link = arena_strdup(&tree->arena, soft ? soft : "");
	if (entry->type != TREE_HARDLINK)
		return 0;
	if (!path_plain(hard, plain))
		return error_set(err, ERROR_FAILED,
				 "the hard link '%.100s' leads out of the layer to '%.100s'",
				 entry->path, hard);
	entry->link = arena_strdup(&tree->arena, plain);
	return 0;
}

static int layer_list_add(struct tree *tree, struct archive_entry *in, const char *path,
			  struct error *err)
{
	struct tree_entry *entry = tree_add(tree, layer_list_type_of(in), path);

	entry->mode = archive_entry_perm(in);
	entry->uid = (uid_t)archive_entry_uid(in);
	entry->gid = (gid_t)archive_entry_gid(in);
	entry->mtime_s = archive_entry_mtime(in);
	entry->size_bytes = (uint64_t)archive_entry_size(in);
	if (entry->type == TREE_CHARACTER || entry->type == TREE_BLOCK)
		entry->device = archive_entry_rdev(in);
	return layer_list_add_links(tree, in, entry, err);
}

static int layer_list_take(struct tree *tree, struct archive_entry *in, struct error *err)
{
	char path[PATH_PLAIN_BYTES], target[PATH_PLAIN_BYTES];
	enum whiteout kind;

	if (layer_entry_path(in, path, err) < 0 || whiteout_find(path, &kind, target, err) < 0)
		return -1;
	switch (kind) {
	case WHITEOUT_OPAQUE:
		add_opaque(tree, target);
		return 0;
	case WHITEOUT_REMOVED:
		tree_add(tree, TREE_WHITEOUT, target);
		return 0;
	case WHITEOUT_IGNORED:
		return 0;
	default:
		return layer_list_add(tree, in, path, err);
	}
}

static int list_all(struct layer_reader *reader, struct tree *tree, struct error *err)
{
	struct archive_entry *entry;

	for (;;) {
		if (layer_reader_next(reader, &entry, err) < 0)
			return -1;
		if (!entry)
			return layer_reader_finish(reader, err);
		if (layer_list_take(tree, entry, err) < 0)
			return -1;
	}
}

int layer_list(const char *tar_path, const char *diff_id, struct budget *budget, struct tree *tree,
	       struct error *err)
{
	_cleanup_(layer_reader_close) struct layer_reader *reader = NULL;

	if (layer_reader_open(tar_path, diff_id, budget, NULL, &reader, err) < 0)
		return -1;
	if (list_all(reader, tree, err) < 0)
		return layer_reader_wrap(reader, err);
	tree_sort(tree);
	return 0;
}
