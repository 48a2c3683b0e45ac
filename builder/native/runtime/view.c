/* SPDX-License-Identifier: MIT */
#include "builder/native/runtime/view.h"

#include "core/file.h"
#include "core/str.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

/* What one layer says about a path. */
enum verdict {
	SILENT,	      /* look below */
	HIDDEN,	      /* it is removed: do not look below */
	STANDS,	      /* it is here, and lower layers may add to it */
	STANDS_ALONE, /* it is here, and hides all that lower layers have */
};

static bool is_opaque(const char *disk)
{
	char value[4];

	return (lgetxattr(disk, "trusted.overlay.opaque", value, sizeof(value)) == 1 ||
		lgetxattr(disk, "user.overlay.opaque", value, sizeof(value)) == 1) &&
	       value[0] == 'y';
}

/* `is_last`: the whole path was reached. */
static enum verdict view_judge(bool is_last, bool is_whiteout, bool is_folder, bool opaque,
			       bool *alone)
{
	if (is_whiteout || (!is_last && !is_folder))
		return HIDDEN;
	*alone = *alone || opaque || !is_folder;
	return *alone ? STANDS_ALONE : STANDS;
}

static enum verdict ask_disk(const char *folder, const char *path,
			     char disk[static TREE_PATH_BYTES])
{
	enum verdict verdict = STANDS;
	bool alone = false;
	size_t length = 0;

	do {
		struct stat st;

		length += path[length] == '/';
		length += strcspn(path + length, "/");
		if (snprintf(disk, TREE_PATH_BYTES, "%s/%.*s", folder, (int)length, path) >=
			    TREE_PATH_BYTES ||
		    lstat(disk, &st) < 0)
			return alone ? HIDDEN : SILENT;
		verdict = view_judge(
			!path[length], S_ISCHR(st.st_mode) && st.st_rdev == makedev(0, 0),
			S_ISDIR(st.st_mode), S_ISDIR(st.st_mode) && is_opaque(disk), &alone);
	} while (path[length] && verdict != HIDDEN);
	return verdict;
}

/* *entry is NULL when the layer has no entry for a folder, only for what is in it. */
static enum verdict ask_tree(const struct tree *tree, const char *path,
			     const struct tree_entry **entry)
{
	enum verdict verdict;
	char prefix[TREE_PATH_BYTES];
	bool alone = false;
	size_t length = 0, below;

	do {
		length += path[length] == '/';
		length += strcspn(path + length, "/");
		if (length >= TREE_PATH_BYTES)
			return SILENT;
		memcpy(prefix, path, length);
		prefix[length] = '\0';
		*entry = tree_find(tree, prefix);
		if (*entry) {
			verdict =
				view_judge(!path[length], (*entry)->type == TREE_WHITEOUT,
					   (*entry)->type == TREE_FOLDER, (*entry)->opaque, &alone);
			continue;
		}
		tree_below(tree, prefix, &below);
		if (!below)
			return alone ? HIDDEN : SILENT;
		verdict = alone ? STANDS_ALONE : STANDS;
	} while (path[length] && verdict != HIDDEN);
	return verdict;
}

/* One entry of a folder on disk, without what is below it. */
static int view_read_one(const char *disk, const char *path, struct arena *arena,
			 struct tree_entry *entry, struct error *err)
{
	char link[TREE_PATH_BYTES];
	struct stat st;
	ssize_t length;

	if (lstat(disk, &st) < 0)
		return error_errno(err, "cannot read %s", disk);
	*entry = (struct tree_entry){
		.path = arena_strdup(arena, path),
		.type = S_ISDIR(st.st_mode)   ? TREE_FOLDER
			: S_ISLNK(st.st_mode) ? TREE_SYMLINK
					      : TREE_FILE,
		.mode = st.st_mode & 07777,
		.uid = st.st_uid,
		.gid = st.st_gid,
		.mtime_s = st.st_mtime,
		.size_bytes = (uint64_t)st.st_size,
		.source = S_ISREG(st.st_mode) ? arena_strdup(arena, disk) : NULL,
	};
	if (entry->type != TREE_SYMLINK)
		return 0;
	length = readlink(disk, link, sizeof(link));
	if (length < 0 || length == sizeof(link))
		return error_errno(err, "cannot read the link %s", disk);
	entry->link = arena_strndup(arena, link, (size_t)length);
	return 0;
}

int view_find(const struct view *view, const char *path, struct arena *arena,
	      struct tree_entry *entry, bool *found, struct error *err)
{
	bool implied = false; /* a layer without an entry for the folder has something in it */

	*found = false;
	for (size_t i = view->count; i-- > 0;) {
		const struct view_layer *layer = &view->list[i];
		const struct tree_entry *in_tree = NULL;
		char disk[TREE_PATH_BYTES];
		enum verdict verdict = layer->folder ? ask_disk(layer->folder, path, disk)
						     : ask_tree(layer->tree, path, &in_tree);

		if (verdict == SILENT)
			continue;
		if (verdict == HIDDEN)
			break;
		if (layer->folder && view_read_one(disk, path, arena, entry, err) < 0)
			return -1;
		if (in_tree)
			*entry = *in_tree;
		*found = layer->folder || in_tree;
		implied = implied || !*found;
		if (*found || verdict == STANDS_ALONE)
			break;
	}
	if (implied && (!*found || entry->type != TREE_FOLDER)) {
		*entry = (struct tree_entry){
			.path = arena_strdup(arena, path), .type = TREE_FOLDER, .mode = 0755};
		*found = true;
	}
	return 0;
}

/* Puts `rest` behind `text`: the target of a link, with the rest of the path. */
static int replace_rest(char rest[static TREE_PATH_BYTES], const char *text)
{
	char joined[2 * TREE_PATH_BYTES];

	snprintf(joined, sizeof(joined), "%s/%s", text, rest);
	return snprintf(rest, TREE_PATH_BYTES, "%s", joined) >= TREE_PATH_BYTES ? -1 : 0;
}

static void cut_last(char *path)
{
	char *slash = strrchr(path, '/');

	*(slash ? slash : path) = '\0';
}

/* Takes the first component off `rest` and follows it from `out`. */
static int resolve_step(const struct view *view, char out[static TREE_PATH_BYTES],
			char rest[static TREE_PATH_BYTES], int *links, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	size_t skip = strspn(rest, "/"), length = strcspn(rest + skip, "/");
	char name[TREE_PATH_BYTES];
	struct tree_entry entry;
	bool found;

	snprintf(name, sizeof(name), "%.*s", (int)length, rest + skip);
	memmove(rest, rest + skip + length, strlen(rest + skip + length) + 1);
	if (!*name || strcmp(name, ".") == 0)
		return 0;
	if (strcmp(name, "..") == 0) {
		cut_last(out);
		return 0;
	}
	length = strlen(out);
	if (length + strlen(name) + 2 > TREE_PATH_BYTES)
		return error_set(err, ERROR_USAGE, "the path /%.60s... is too long", out);
	snprintf(out + length, TREE_PATH_BYTES - length, "%s%s", length ? "/" : "", name);
	if (view_find(view, out, &arena, &entry, &found, err) < 0)
		return -1;
	if (!found || entry.type != TREE_SYMLINK)
		return 0;
	if (++*links > VIEW_LINKS_MAX || replace_rest(rest, entry.link) < 0)
		return error_set(err, ERROR_FAILED, "/%s: links in the image lead in a circle",
				 out);
	cut_last(out);
	if (entry.link[0] == '/')
		*out = '\0';
	return 0;
}

int view_resolve(const struct view *view, const char *path, char out[static TREE_PATH_BYTES],
		 struct error *err)
{
	char rest[TREE_PATH_BYTES];
	int links = 0;

	*out = '\0';
	if (snprintf(rest, sizeof(rest), "%s", path) >= (int)sizeof(rest))
		return error_set(err, ERROR_USAGE, "the path %.60s... is too long", path);
	while (*rest)
		if (resolve_step(view, out, rest, &links, err) < 0)
			return -1;
	return 0;
}

/* Takes a path and all below it out of a sorted tree: their paths become NULL. */
static void hide(struct tree *tree, const char *path, bool itself)
{
	size_t count;
	const struct tree_entry *first = tree_below(tree, path, &count);

	for (size_t i = 0; i < count; i++) {
		struct tree_entry *entry = &tree->list[(size_t)(first - tree->list) + i];

		if (itself || strcmp(entry->path, path) != 0)
			entry->type = TREE_WHITEOUT;
	}
}

static void drop_hidden(struct tree *tree)
{
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++)
		if (tree->list[i].type != TREE_WHITEOUT)
			tree->list[kept++] = tree->list[i];
	tree->count = kept;
}

/* Puts the entries of one more layer on top. */
static void put_on_top(struct tree *tree, const struct tree_entry *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].type != TREE_FOLDER || list[i].opaque)
			hide(tree, list[i].path, list[i].type != TREE_FOLDER);
	drop_hidden(tree);
	for (size_t i = 0; i < count; i++) {
		struct tree_entry *entry;
		const char *path;

		if (list[i].type == TREE_WHITEOUT)
			continue;
		entry = tree_add(tree, list[i].type, list[i].path);
		path = entry->path;
		*entry = list[i];
		entry->path = path;
		entry->opaque = false;
	}
	tree_sort(tree);
}

static int collect_folder(const struct view_layer *layer, const char *path, struct tree *tree,
			  struct error *err)
{
	const struct tree_read_options options = {
		.prefix = path, .is_overlay = true, .separate = true, .newest_s = INT64_MAX};
	char disk[TREE_PATH_BYTES];
	struct tree part;
	int rc;

	if (snprintf(disk, sizeof(disk), "%s/%s", layer->folder, path) >= (int)sizeof(disk))
		return error_set(err, ERROR_USAGE, "the path /%.60s... is too long", path);
	tree_init(&part);
	rc = tree_read(&part, disk, &options, err);
	if (rc == 0)
		put_on_top(tree, part.list, part.count);
	/* the texts stay: the result owns them now */
	arena_adopt(&tree->arena, &part.arena);
	tree_release(&part);
	return rc;
}

int view_collect(const struct view *view, const char *path, struct tree *tree, struct error *err)
{
	for (size_t i = 0; i < view->count; i++) {
		char disk[TREE_PATH_BYTES];
		enum verdict verdict = ask_disk(view->list[i].folder, path, disk);

		if (verdict == HIDDEN || verdict == STANDS_ALONE)
			tree->count = 0;
		if (verdict != HIDDEN && verdict != SILENT &&
		    collect_folder(&view->list[i], path, tree, err) < 0)
			return -1;
	}
	return 0;
}

int view_read(const struct view *view, const char *path, size_t bytes_max, struct arena *arena,
	      const char **text, struct error *err)
{
	char real[TREE_PATH_BYTES], *bytes;
	struct tree_entry entry;
	bool found;

	*text = NULL;
	if (view_resolve(view, path, real, err) < 0 ||
	    view_find(view, real, arena, &entry, &found, err) < 0)
		return -1;
	if (!found || entry.type != TREE_FILE || !entry.source)
		return 0;
	if (file_read(entry.source, bytes_max, arena, &bytes, NULL, err) < 0)
		return -1;
	*text = bytes;
	return 0;
}
