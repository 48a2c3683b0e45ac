/* SPDX-License-Identifier: MIT */
/*
 * tree_file.h - the list of a tree as a JSON file: {"schema": 1, "entries": [...]}, three
 * texts for each entry: its numbers, its path, its link.
 */
#ifndef BUILDER_NATIVE_LAYER_TREE_FILE_H
#define BUILDER_NATIVE_LAYER_TREE_FILE_H

#include "builder/native/layer/tree.h"

/* Writes all of the entries but their content and extended attributes. */
int tree_save(const struct tree *tree, const char *path, struct error *err);

/* Reads it; texts live in the arena. False when there is none, or none that is whole. */
bool tree_load(struct tree *tree, const char *path, struct arena *arena);

#endif
