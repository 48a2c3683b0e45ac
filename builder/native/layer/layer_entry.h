/* SPDX-License-Identifier: MIT */
/* layer_entry.h - one entry of a tree as libarchive has it. */
#ifndef BUILDER_NATIVE_LAYER_LAYER_ENTRY_H
#define BUILDER_NATIVE_LAYER_LAYER_ENTRY_H

#include "builder/native/layer/tree.h"

struct archive_entry;

/* The entry with an image layer's name for it. The caller frees it. */
struct archive_entry *layer_entry_new(const struct tree_entry *entry);

/* The entry that makes the folder opaque. The caller frees it. */
struct archive_entry *layer_entry_opaque(const struct tree_entry *folder);

/*
 * Tells `out` which parts of the file are zeros. Only the content counts, not the file system's
 * holes.
 */
int layer_entry_holes(struct archive_entry *out, int fd, const struct tree_entry *entry,
		      struct error *err);

#endif
