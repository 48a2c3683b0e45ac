/* SPDX-License-Identifier: MIT */
/*
 * layer_disk.h - a layer as a folder on disk, in the form in which overlayfs mounts it below
 * others.
 *
 * Both functions put their entries there with oci/layer/extract.h, as EXTRACT_OVERLAY. In a user
 * namespace devices are left out, since only the machine's own root makes them; a container has a
 * /dev of its own.
 */
#ifndef BUILDER_NATIVE_LAYER_LAYER_DISK_H
#define BUILDER_NATIVE_LAYER_LAYER_DISK_H

#include "builder/native/layer/tree.h"

/*
 * Unpacks a layer's tar file, plain or gzip or zstd, into `folder` (made; removed on failure). The
 * plain bytes must have the digest `diff_id`, when it is not NULL. `budget`: of the image (oci/budget.h);
 * NULL: one for the layer, with defaults.
 */
struct budget;
int layer_unpack(const char *tar_path, const char *folder, const char *diff_id,
		 struct budget *budget, struct error *err);

/* Puts a sorted tree with its content into `folder` (made; removed on failure). */
int layer_place(const struct tree *tree, const char *folder, struct error *err);

#endif
