/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/tree.h"

#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"
#include "oci/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#define ATTRIBUTE_NAMES_BYTES (64 * KIB) /* XATTR_LIST_MAX */

void tree_init(struct tree *tree)
{
	*tree = (struct tree){.arena = ARENA_INIT};
}

void tree_release(struct tree *tree)
{
	free(tree->list);
	arena_release(&tree->arena);
	*tree = (struct tree){.arena = ARENA_INIT};
}

struct tree_entry *tree_add(struct tree *tree, enum tree_type type, const char *path)
{
	struct tree_entry *entry;

	if (tree->count == tree->capacity) {
		tree->capacity = tree->capacity ? 2 * tree->capacity : 256;
		tree->list = xrealloc(tree->list, tree->capacity * sizeof(*tree->list));
	}
	entry = &tree->list[tree->count++];
	*entry = (struct tree_entry){.type = type, .path = arena_strdup(&tree->arena, path)};
	return entry;
}

int tree_path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	/* the end comes first, then '/': a folder stands before its content, that before "x.y" */
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

struct place {
	struct tree_entry entry;
	size_t index;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = tree_path_compare(a->entry.path, b->entry.path);

	return order ? order : (a->index < b->index ? -1 : 1);
}

/* Joins a later entry of the same path. A removal beside an entry is only about lower layers. */
static void tree_merge(struct tree_entry *kept, const struct tree_entry *later)
{
	bool is_removed = kept->type == TREE_WHITEOUT || later->type == TREE_WHITEOUT;
	bool opaque = kept->opaque || later->opaque || (is_removed && kept->type != later->type);

	if (later->type != TREE_WHITEOUT)
		*kept = *later;
	kept->opaque = opaque && kept->type == TREE_FOLDER;
}

void tree_sort(struct tree *tree)
{
	struct place *places = xmalloc((tree->count + 1) * sizeof(*places));
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++)
		places[i] = (struct place){tree->list[i], i};
	qsort(places, tree->count, sizeof(*places), compare_places);
	for (size_t i = 0; i < tree->count; i++) {
		bool same = kept && strcmp(tree->list[kept - 1].path, places[i].entry.path) == 0;

		if (same)
			tree_merge(&tree->list[kept - 1], &places[i].entry);
		else
			tree->list[kept++] = places[i].entry;
	}
	tree->count = kept;
	free(places);
}

/* The number of entries before `path`. */
static size_t lower_bound(const struct tree *tree, const char *path)
{
	size_t low = 0, high = tree->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (tree_path_compare(tree->list[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct tree_entry *tree_find(const struct tree *tree, const char *path)
{
	size_t index = lower_bound(tree, path);

	if (index == tree->count || strcmp(tree->list[index].path, path) != 0)
		return NULL;
	return &tree->list[index];
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !length || (strncmp(path, folder, length) == 0 &&
			   (path[length] == '/' || path[length] == '\0'));
}

const struct tree_entry *tree_below(const struct tree *tree, const char *path, size_t *count)
{
	size_t first = lower_bound(tree, path), end = first;

	while (end < tree->count && is_below(tree->list[end].path, path))
		end++;
	*count = end - first;
	return tree->list + first;
}

/* --- a folder on disk as a tree --------------------------------------------------------------- */

struct inode {
	dev_t device;
	ino_t number;
	const char *path; /* in the tree; NULL: a free slot */
};

struct reader {
	struct tree *tree;
	const char *folder;
	const struct tree_read_options *options;
	struct inode *inodes; /* an open hash of the files with several names */
	size_t inode_count, inode_slots;
	int depth;
	struct error *err;
};

/* On disk, and in the tree. */
struct location {
	char disk[TREE_PATH_BYTES];
	char path[TREE_PATH_BYTES];
};

static int locate(struct reader *r, const struct location *parent, const char *name,
		  struct location *at)
{
	const char *slash = *parent->path ? "/" : "";

	if (snprintf(at->disk, TREE_PATH_BYTES, "%s/%s", parent->disk, name) >= TREE_PATH_BYTES ||
	    snprintf(at->path, TREE_PATH_BYTES, "%s%s%s", parent->path, slash, name) >=
		    TREE_PATH_BYTES)
		return error_set(r->err, ERROR_FAILED, "the path %.80s... is too long",
				 parent->disk);
	return 0;
}

static struct inode *find_inode(struct reader *r, const struct stat *st)
{
	size_t at = ((size_t)st->st_ino * 0x9e3779b97f4a7c15ULL) % r->inode_slots;

	while (r->inodes[at].path &&
	       (r->inodes[at].device != st->st_dev || r->inodes[at].number != st->st_ino))
		at = (at + 1) % r->inode_slots;
	return &r->inodes[at];
}

static void grow_inodes(struct reader *r)
{
	struct inode *old = r->inodes;
	size_t slots = r->inode_slots;

	r->inode_slots = slots ? 2 * slots : 256;
	r->inodes = xmalloc(r->inode_slots * sizeof(*r->inodes));
	memset(r->inodes, 0, r->inode_slots * sizeof(*r->inodes));
	for (size_t i = 0; i < slots; i++)
		if (old[i].path)
			*find_inode(r, &(struct stat){.st_dev = old[i].device,
						      .st_ino = old[i].number}) = old[i];
	free(old);
}

/* The path under which the file was found before; NULL: this is the first. */
static const char *first_name(struct reader *r, const struct stat *st, const char *path)
{
	struct inode *inode;

	if (2 * r->inode_count >= r->inode_slots)
		grow_inodes(r);
	inode = find_inode(r, st);
	if (inode->path)
		return inode->path;
	*inode = (struct inode){st->st_dev, st->st_ino, arena_strdup(&r->tree->arena, path)};
	r->inode_count++;
	return NULL;
}

/* Attributes in which file systems keep their own notes are no part of an image. */
static bool tree_read_is_kept(const char *name)
{
	return !starts_with(name, "trusted.overlay.") && !starts_with(name, "user.overlay.") &&
	       strcmp(name, "security.selinux") != 0;
}

static void add_attribute(struct tree *tree, struct tree_entry *entry, const char *name,
			  const void *value, size_t length)
{
	struct tree_attribute **at = &entry->attributes, *attribute;

	while (*at && strcmp((*at)->name, name) < 0)
		at = &(*at)->next;
	attribute = ARENA_NEW(&tree->arena, struct tree_attribute);
	*attribute = (struct tree_attribute){.next = *at,
					     .name = arena_strdup(&tree->arena, name),
					     .value = arena_strndup(&tree->arena, value, length),
					     .length = length};
	*at = attribute;
}

static int read_attribute(struct reader *r, const char *disk, const char *name,
			  struct tree_entry *entry)
{
	char value[64 * KIB]; /* XATTR_SIZE_MAX */
	ssize_t length = lgetxattr(disk, name, value, sizeof(value));

	if (length < 0)
		return error_errno(r->err, "cannot read the attribute %s of %s", name, disk);
	add_attribute(r->tree, entry, name, value, (size_t)length);
	return 0;
}

static int read_attributes(struct reader *r, const char *disk, struct tree_entry *entry)
{
	char names[ATTRIBUTE_NAMES_BYTES], value[4];
	ssize_t length = llistxattr(disk, names, sizeof(names));

	if (length < 0 && errno == ENOTSUP)
		return 0;
	if (length < 0)
		return error_errno(r->err, "cannot read the attributes of %s", disk);
	for (const char *name = names; name < names + length; name += strlen(name) + 1) {
		if (r->options->is_overlay && ends_with(name, ".overlay.opaque") &&
		    lgetxattr(disk, name, value, sizeof(value)) == 1 && value[0] == 'y')
			entry->opaque = true;
		if (tree_read_is_kept(name) && read_attribute(r, disk, name, entry) < 0)
			return -1;
	}
	return 0;
}

static int read_link(struct reader *r, const char *disk, struct tree_entry *entry)
{
	char text[TREE_PATH_BYTES];
	ssize_t length = readlink(disk, text, sizeof(text));

	if (length < 0 || length == sizeof(text))
		return error_errno(r->err, "cannot read the link %s", disk);
	entry->link = arena_strndup(&r->tree->arena, text, (size_t)length);
	return 0;
}

/* A link of a person's files must stay among them. */
static int check_link(struct reader *r, const char *disk, const char *path, const char *link)
{
	const char *prefix = r->options->prefix;
	int depth = 0;

	/* the prefix is not part of the person's path */
	path += prefix && *prefix ? strlen(prefix) + 1 : 0;
	for (const char *p = path; (p = strchr(p, '/')); p++)
		depth++;
	for (const char *p = link; *p && depth >= 0; p += strcspn(p, "/"), p += *p == '/') {
		size_t length = strcspn(p, "/");

		if (length == 2 && strncmp(p, "..", 2) == 0)
			depth--;
		else if (length && !(length == 1 && *p == '.'))
			depth++;
	}
	if (*link != '/' && depth >= 0)
		return 0;
	return error_set(
		r->err, ERROR_USAGE,
		"%s is a link to %s, out of the folder that goes into the image; put in the file itself",
		disk, link);
}

static enum tree_type tree_read_type_of(const struct stat *st, bool is_overlay)
{
	if (is_overlay && S_ISCHR(st->st_mode) && st->st_rdev == makedev(0, 0))
		return TREE_WHITEOUT;
	return S_ISDIR(st->st_mode)    ? TREE_FOLDER
	       : S_ISLNK(st->st_mode)  ? TREE_SYMLINK
	       : S_ISCHR(st->st_mode)  ? TREE_CHARACTER
	       : S_ISBLK(st->st_mode)  ? TREE_BLOCK
	       : S_ISFIFO(st->st_mode) ? TREE_FIFO
				       : TREE_FILE;
}

static void clamp(struct reader *r, const char *disk, const struct stat *st,
		  struct tree_entry *entry)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
					  {.tv_sec = r->options->newest_s}};

	entry->mtime_s = st->st_mtime;
	if (st->st_mtime < r->options->newest_s ||
	    (st->st_mtime == r->options->newest_s && !st->st_mtim.tv_nsec))
		return;
	entry->mtime_s = r->options->newest_s;
	if (r->options->clamp_on_disk)
		utimensat(AT_FDCWD, disk, times, AT_SYMLINK_NOFOLLOW);
}

/* Owner, mode and times, as the options want them. */
static void take_stat(struct reader *r, const char *disk, const struct stat *st,
		      struct tree_entry *entry)
{
	const struct tree_read_options *o = r->options;
	bool runs = entry->type == TREE_FOLDER || (st->st_mode & 0111);

	entry->mode = o->plain_modes ? (runs ? 0755 : 0644) : st->st_mode & 07777;
	if (entry->type == TREE_SYMLINK)
		entry->mode = 0777;
	entry->uid = o->owner_root ? 0 : st->st_uid;
	entry->gid = o->owner_root ? 0 : st->st_gid;
	if (entry->type == TREE_CHARACTER || entry->type == TREE_BLOCK)
		entry->device = st->st_rdev;
	clamp(r, disk, st, entry);
}

static int tree_read_add_entry(struct reader *r, const struct location *at, const struct stat *st)
{
	enum tree_type type = tree_read_type_of(st, r->options->is_overlay);
	const char *first = NULL;
	struct tree_entry *entry;

	if (r->tree->count == LAYER_ENTRIES_MAX)
		return error_set(r->err, ERROR_FAILED, "%s holds more than %d files", r->folder,
				 LAYER_ENTRIES_MAX);
	if (r->options->no_special && !S_ISREG(st->st_mode) && !S_ISDIR(st->st_mode) &&
	    !S_ISLNK(st->st_mode))
		return error_set(
			r->err, ERROR_USAGE,
			"%s is a device, a pipe or a socket; take it out of what goes into the image",
			at->disk);
	if (st->st_nlink > 1 && !r->options->separate &&
	    (type == TREE_FILE || type == TREE_SYMLINK))
		first = first_name(r, st, at->path);
	entry = tree_add(r->tree, first ? TREE_HARDLINK : type, at->path);
	if (type == TREE_WHITEOUT)
		return 0;
	take_stat(r, at->disk, st, entry);
	if (first) {
		entry->link = first;
		return 0;
	}
	if (type == TREE_SYMLINK &&
	    (read_link(r, at->disk, entry) < 0 ||
	     (r->options->no_special && check_link(r, at->disk, at->path, entry->link) < 0)))
		return -1;
	if (type == TREE_FILE) {
		entry->size_bytes = (uint64_t)st->st_size;
		entry->source = arena_strdup(&r->tree->arena, at->disk);
	}
	return r->options->no_special ? 0 : read_attributes(r, at->disk, entry);
}

static int tree_read_compare_names(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int tree_read_folder(struct reader *r, const struct location *at);

static int read_path(struct reader *r, const struct location *at)
{
	struct stat st;

	if (lstat(at->disk, &st) < 0)
		return error_errno(r->err, "cannot read %s", at->disk);
	if (S_ISSOCK(st.st_mode) && !r->options->no_special)
		return 0;
	if (tree_read_add_entry(r, at, &st) < 0)
		return -1;
	return S_ISDIR(st.st_mode) ? tree_read_folder(r, at) : 0;
}

static int list_names(struct reader *r, const char *disk, struct arena *arena, const char ***names,
		      size_t *count)
{
	DIR *dir = opendir(disk);
	size_t capacity = 64;
	struct dirent *item;

	*count = 0;
	if (!dir)
		return error_errno(r->err, "cannot read %s", disk);
	*names = xmalloc(capacity * sizeof(**names));
	while ((item = readdir(dir))) {
		if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
			continue;
		if (*count == capacity) {
			capacity *= 2;
			*names = xrealloc(*names, capacity * sizeof(**names));
		}
		(*names)[(*count)++] = arena_strdup(arena, item->d_name);
	}
	closedir(dir);
	qsort(*names, *count, sizeof(**names), tree_read_compare_names);
	return 0;
}

static int tree_read_folder(struct reader *r, const struct location *at)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) const char **names = NULL;
	struct location *below = ARENA_NEW(&arena, struct location);
	size_t count;

	if (++r->depth > TREE_DEPTH_MAX)
		return error_set(r->err, ERROR_FAILED, "%s lies more than %d folders deep",
				 at->disk, TREE_DEPTH_MAX);
	if (interrupt_check(r->err) < 0 || list_names(r, at->disk, &arena, &names, &count) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (locate(r, at, names[i], below) < 0 || read_path(r, below) < 0)
			return -1;
	r->depth--;
	return 0;
}

int tree_read(struct tree *tree, const char *folder, const struct tree_read_options *options,
	      struct error *err)
{
	struct reader r = {.tree = tree, .folder = folder, .options = options, .err = err};
	_cleanup_(free_pointer) struct location *at = xmalloc(sizeof(*at));
	int rc;

	snprintf(at->disk, TREE_PATH_BYTES, "%s", folder);
	snprintf(at->path, TREE_PATH_BYTES, "%s", options->prefix ? options->prefix : "");
	rc = read_path(&r, at);
	free(r.inodes);
	return rc;
}
