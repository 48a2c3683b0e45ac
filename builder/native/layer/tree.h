/* SPDX-License-Identifier: MIT */
/*
 * tree.h - what is in a layer: its entries, sorted, with where their content lies.
 *
 * A layer's tree is either read from disk (a folder, or the upper directory of an overlay mount) or
 * put together entry by entry; layer.h writes it as a tar stream. Paths are relative, without "./"
 * and without a slash at either end; the root itself is "".
 *
 * Removals are entries: TREE_WHITEOUT hides the path in the layers below, a folder with `opaque`
 * set hides all that lies in it below. On disk they are what overlayfs makes of them: a character
 * device 0:0, and the attribute trusted.overlay.opaque (user.overlay.opaque without privileges).
 * Source: Linux, Documentation/filesystems/overlayfs.rst, "whiteouts and opaque directories".
 */
#ifndef BUILDER_NATIVE_LAYER_TREE_H
#define BUILDER_NATIVE_LAYER_TREE_H

#include "core/arena.h"
#include "core/error.h"

#include <sys/types.h>

#define TREE_PATH_BYTES 4096
#define TREE_DEPTH_MAX 256

enum tree_type {
	TREE_FILE,
	TREE_FOLDER,
	TREE_SYMLINK,
	TREE_HARDLINK, /* `link` is the path of an entry before it */
	TREE_CHARACTER,
	TREE_BLOCK,
	TREE_FIFO,
	TREE_WHITEOUT,
};

struct tree_attribute {
	struct tree_attribute *next;
	const char *name;
	const void *value;
	size_t length;
};

struct tree_entry {
	const char *path;
	const char *link;   /* TREE_SYMLINK's text, TREE_HARDLINK's path; else NULL */
	const char *source; /* TREE_FILE: the file on this machine; NULL: `text` */
	const char *text;
	const char *digest; /* of a TREE_FILE's content, when it is known; else NULL */
	int64_t changed_ns; /* the source's ctime when the digest was taken; 0: unknown */
	uint64_t size_bytes;
	int64_t mtime_s;
	struct tree_attribute *attributes; /* extended ones, sorted by name */
	dev_t device;
	uid_t uid;
	gid_t gid;
	mode_t mode; /* permission bits only */
	enum tree_type type;
	bool opaque;
};

struct tree {
	struct arena arena; /* owns every text */
	struct tree_entry *list;
	size_t count, capacity;
};

void tree_init(struct tree *tree);
void tree_release(struct tree *tree);

/* Adds an entry with its path and texts copied; the caller fills in the rest. Never NULL. */
struct tree_entry *tree_add(struct tree *tree, enum tree_type type, const char *path);

struct tree_read_options {
	const char *prefix; /* put before every path; NULL or "": none */
	bool is_overlay;    /* an overlay's upper directory: with whiteouts and opaque folders */
	bool owner_root;    /* every owner is 0:0: for a person's files */
	bool plain_modes;   /* 0755 for folders and programs, else 0644: for a person's files */
	bool no_special;    /* devices, sockets, fifos and links that leave are errors */
	bool separate;	    /* hard links become files of their own */
	int64_t newest_s;   /* later times become this one */
	bool clamp_on_disk; /* on disk too, so that a later step sees the layer's times */
};

/*
 * Adds all that lies in `folder`, itself included, in the order in which a layer has it. Sockets
 * are left out (tar has none). Hard links become TREE_HARDLINK entries to the first of their paths.
 * Errors name the path.
 */
int tree_read(struct tree *tree, const char *folder, const struct tree_read_options *options,
	      struct error *err);

/*
 * Sorts: folders before what is in them, names by bytes. Of two entries with the same path, the one
 * added later stays; a folder that is also removed, or was opaque once, is opaque.
 */
void tree_sort(struct tree *tree);

/* The entry of that path in a sorted tree, or NULL. */
const struct tree_entry *tree_find(const struct tree *tree, const char *path);

/* The first entry at or below `path` in a sorted tree; *count of them follow each other. */
const struct tree_entry *tree_below(const struct tree *tree, const char *path, size_t *count);

/* Compares paths as tree_sort does. */
int tree_path_compare(const char *a, const char *b);

#endif
