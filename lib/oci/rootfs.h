/* SPDX-License-Identifier: MIT */
/*
 * rootfs.h - an image's layers, one above another, as one tree on disk.
 *
 * Layers are applied by layer/extract.h, as EXTRACT_TREE: links on the way to a name are followed
 * as if the tree were "/", and nothing outside of the tree is ever written. Without root, owners
 * are the caller's, and devices are left out.
 *
 * The tree is made beside its place and renamed when it is whole: an interrupted run leaves no
 * folder.
 */
#ifndef OCI_ROOTFS_H
#define OCI_ROOTFS_H

#include "core/error.h"

struct rootfs;

/*
 * `folder` must be missing or empty (ERROR_USAGE); the folders above it are made. `limits`: of the image
 * (oci/budget.h); NULL: the defaults.
 */
struct budget_limits;
int rootfs_open(const char *folder, const struct budget_limits *limits, struct rootfs **rootfs,
		struct error *err);

/*
 * Applies the next layer, from the lowest up: a tar file, plain or gzip or zstd. `diff_id`: the
 * digest that its plain bytes must have, a valid one, or NULL. `title` names it in the progress;
 * NULL: silent.
 */
int rootfs_apply(struct rootfs *rootfs, const char *layer_path, const char *diff_id,
		 const char *title, struct error *err);

/* Puts the tree in its place. */
int rootfs_finish(struct rootfs *rootfs, struct error *err);

/* Removes a tree that was not finished. For _cleanup_. */
void rootfs_close(struct rootfs **rootfs);

#endif
