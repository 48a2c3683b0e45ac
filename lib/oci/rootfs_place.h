/* SPDX-License-Identifier: MIT */
/* rootfs_place.h - one layer's entries into a tree on disk, for rootfs.c. */
#ifndef OCI_ROOTFS_PLACE_H
#define OCI_ROOTFS_PLACE_H

#include "core/arena.h"
#include "core/error.h"
#include "core/file.h"

#include <archive.h>
#include <archive_entry.h>
#include <sys/stat.h>

#define ROOTFS_PATH_BYTES PATH_PLAIN_BYTES

/* A folder of the layer: its mode and times are set when all that is in it is there. */
struct late_folder {
	struct late_folder *next;
	const char *path;
	mode_t mode;
	struct timespec times[2];
};

/* A layer under way. */
struct layer_place {
	int root; /* O_PATH of the tree */
	struct archive *tar;
	struct arena arena;
	/* Paths that this layer has put there, by their hash: whiteouts spare them. */
	const char **own;
	size_t own_count, own_room;
	struct late_folder *folders; /* newest first */
	char *parent;		     /* path of the folder that `parent_fd` is; NULL: none */
	int parent_fd;
	bool is_root;		/* we may set owners and make devices */
	size_t lost_attributes; /* that the file system does not take */
};

/* Puts one entry of the tar there. */
int layer_place_entry(struct layer_place *place, struct archive_entry *entry, struct error *err);

/* Modes and times of the folders. */
int layer_place_end(struct layer_place *place, struct error *err);

void layer_place_release(struct layer_place *place);

/* Marks of removed things. False: it is no mark. */
int layer_place_mark(struct layer_place *place, const char *path, bool *is_mark, struct error *err);

/* Between rootfs_place.c and rootfs_mark.c: */

/* Opens the folder that the path lies in, made when missing; *name is the last part. */
int layer_place_parent(struct layer_place *place, const char *path, const char **name,
		       struct error *err);
/* Forgets it: something was removed. */
void layer_place_forget(struct layer_place *place);
/* Whether this layer has put the path there. */
bool layer_place_is_own(const struct layer_place *place, const char *path);
/* Removes what lies there, and all below it. */
int layer_place_remove(struct layer_place *place, int parent, const char *name, const char *path,
		       bool spare_own, struct error *err);

#endif
