/* SPDX-License-Identifier: MIT */
/*
 * inside.h - paths within one folder, which no name and no link leaves.
 *
 * Where links are followed, openat2(2) opens every path with RESOLVE_IN_ROOT (Linux 5.6), as if the
 * folder were "/". Where they are not, every part of a path is opened by itself with O_NOFOLLOW. In
 * both the kernel holds the border, even while another process changes links in the folder.
 */
#ifndef OCI_LAYER_INSIDE_H
#define OCI_LAYER_INSIDE_H

#include "core/error.h"

struct inside {
	int root;	    /* the folder; borrowed */
	bool follows_links; /* false: a link on the way is ENOTDIR or ELOOP */
	char *parent;	    /* the path of the folder that `parent_fd` is; NULL: none */
	int parent_fd;	    /* O_PATH; -1: none */
};

/* `path` is plain ("" is the folder itself). A descriptor, or -1 with errno. */
int inside_open(const struct inside *inside, const char *path, uint64_t flags);

/*
 * Makes inside->parent_fd the folder that `path` lies in; *name is the last part of the path. The
 * folder is kept for the next path. -1 with errno.
 */
int inside_enter(struct inside *inside, const char *path, const char **name);

/* Forgets the folder: something was removed, and it may be another one now. */
void inside_leave(struct inside *inside);

/* Says whether the path stays, with the folders above it. */
typedef bool inside_keep(void *arg, const char *path);

/*
 * Removes what stands under `name` in the folder `parent`, and all below it, without following a
 * link. `path` is its plain path for `keep` (NULL: nothing stays) and for errors. It is no error
 * when nothing is there.
 */
int inside_remove(int parent, const char *name, const char *path, inside_keep *keep, void *arg,
		  struct error *err);

/* The same for all that lies in the folder `name` (which may be "."); the folder itself stays. */
int inside_clear(int parent, const char *name, const char *path, inside_keep *keep, void *arg,
		 struct error *err);

#endif
