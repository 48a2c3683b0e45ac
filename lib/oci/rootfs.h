/* SPDX-License-Identifier: MIT */
/*
 * rootfs.h - an image's layers, one above another, as one tree on disk.
 *
 * Source: OCI image-spec 1.1, layer.md: what a layer has replaces what was there, ".wh.NAME"
 * removes, ".wh..wh..opq" hides what lower layers had in a folder. Owners, modes, times, extended
 * attributes, devices and holes are as the layer says; without root, owners are ours and devices
 * are left out. Nothing is ever written outside of the tree: names with ".." are refused, and links
 * on the way are followed as if the tree were "/" (openat2, RESOLVE_IN_ROOT; Linux 5.6).
 *
 * The tree is made beside its place and renamed when it is whole: a run that is interrupted leaves
 * no DIR.
 */
#ifndef OCI_ROOTFS_H
#define OCI_ROOTFS_H

#include "core/error.h"

struct rootfs;

/* `folder` must not be there, or be empty (ERROR_USAGE); what is above it is made. */
int rootfs_open(const char *folder, struct rootfs **rootfs, struct error *err);

/*
 * The next layer, from the lowest up: a tar file, plain or gzip or zstd. `diff_id`: what its plain
 * bytes must have as digest, a valid one, or NULL. `title` names it in the progress; NULL: silent.
 */
int rootfs_apply(struct rootfs *rootfs, const char *layer_path, const char *diff_id,
		 const char *title, struct error *err);

/* Puts the tree in its place. */
int rootfs_finish(struct rootfs *rootfs, struct error *err);

/* Removes a tree that was not finished. For _cleanup_. */
void rootfs_close(struct rootfs **rootfs);

#endif
