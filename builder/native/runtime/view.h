/* SPDX-License-Identifier: MIT */
/*
 * view.h - layers on top of each other, as a container sees them.
 *
 * A layer is a folder on disk in overlayfs' form, or a tree in memory. Nothing is mounted and no
 * link of an image is ever followed on this machine's own file system.
 */
#ifndef BUILDER_NATIVE_RUNTIME_VIEW_H
#define BUILDER_NATIVE_RUNTIME_VIEW_H

#include "builder/native/layer/tree.h"

#define VIEW_LAYERS_MAX 480 /* overlayfs takes 500 */
#define VIEW_LINKS_MAX 40   /* of one path, as Linux has it */

struct view_layer {
	const char *folder;	 /* on disk, or NULL */
	const struct tree *tree; /* sorted; when there is no folder */
};

struct view {
	size_t count;
	struct view_layer list[VIEW_LAYERS_MAX]; /* from the lowest up */
};

/*
 * Finds what stands at `path` ("usr/bin/env"); links are not followed. *found is false when nothing
 * does. Texts live in the arena.
 */
int view_find(const struct view *view, const char *path, struct arena *arena,
	      struct tree_entry *entry, bool *found, struct error *err);

/*
 * Follows all links of a path ("bin/sh" -> "usr/bin/dash"). Absolute ones begin at the image's
 * root, and components that do not exist stay as they are. A loop is an error.
 */
int view_resolve(const struct view *view, const char *path, char out[static TREE_PATH_BYTES],
		 struct error *err);

/*
 * Adds what stands at and below `path`, which has no links in it, to a tree, and sorts it. All
 * layers must be folders.
 */
int view_collect(const struct view *view, const char *path, struct tree *tree, struct error *err);

/* Reads a whole small file of the image, links followed; *text NULL when there is none. */
int view_read(const struct view *view, const char *path, size_t bytes_max, struct arena *arena,
	      const char **text, struct error *err);

#endif
