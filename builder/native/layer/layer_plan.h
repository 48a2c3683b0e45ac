/* SPDX-License-Identifier: MIT */
/*
 * layer_plan.h - which entry of a tree goes into which part.
 *
 * Entries keep the tree's order, and each part is as full as it may be. With `cuts` a part that
 * holds its share of the tree, and LAYER_CUT_BYTES at least, ends before the next name whose hash
 * says so (content-defined chunking, over names). So a file that is added, removed or changed moves
 * the cuts near it, not all cuts behind it.
 */
#ifndef BUILDER_NATIVE_LAYER_LAYER_PLAN_H
#define BUILDER_NATIVE_LAYER_LAYER_PLAN_H

#include "builder/native/layer/layer.h"

#define LAYER_CUT_BYTES (16 * MIB) /* a smaller layer costs a host more than it saves */
#define LAYER_CUT_NAMES 16	   /* a cut may stand before one of so many names */

struct layer_plan {
	unsigned char *part_of; /* by entry; tree->count of them, the caller's */
	size_t count;		/* of parts; 0 for a tree without entries */
	uint64_t content_bytes; /* of all files */
};

/* The hard links' files are in their part. An error: more than LAYER_PARTS_MAX parts. */
int layer_plan(const struct tree *tree, const struct layer_rule *rule, struct layer_plan *plan,
	       struct error *err);

#endif
