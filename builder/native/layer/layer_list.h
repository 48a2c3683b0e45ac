/* SPDX-License-Identifier: MIT */
/* layer_list.h - what is in a layer's file, without unpacking it to a disk. */
#ifndef BUILDER_NATIVE_LAYER_LAYER_LIST_H
#define BUILDER_NATIVE_LAYER_LAYER_LIST_H

#include "builder/native/layer/tree.h"

/*
 * Adds the entries of a tar file, plain or gzip or zstd, to the tree, without their content and
 * their extended attributes, and sorts it. Names that lead out of the layer are an error. The plain
 * bytes must have the digest `diff_id`, when it is not NULL. `budget`: of the image (oci/budget.h); NULL:
 * one for the layer, with defaults.
 */
struct budget;
int layer_list(const char *tar_path, const char *diff_id, struct budget *budget, struct tree *tree,
	       struct error *err);

#endif
