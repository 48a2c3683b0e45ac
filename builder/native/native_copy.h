/* SPDX-License-Identifier: MIT */
/* native_copy.h - a COPY under way: what native_copy.c and native_source.c share. */
#ifndef BUILDER_NATIVE_NATIVE_COPY_H
#define BUILDER_NATIVE_NATIVE_COPY_H

#include "builder/native/native_parts.h"

struct copy {
	struct native_stage *stage;
	const struct instruction *at;
	struct view view;    /* what is copied onto */
	struct tree tree;    /* the layer */
	struct tree parents; /* folders above what is copied; they give way to it */
	struct tree source;  /* sorted; of one source path */
	bool has_owner;
	uid_t uid;
	gid_t gid;
	int chmod;	     /* -1: as the files have it */
	struct words inputs; /* what the layer is made from, for its key */
	/* of the parent folder that was looked up last */
	char parent[TREE_PATH_BYTES], resolved[TREE_PATH_BYTES];
	bool has_parent;
};

/* "Dockerfile:3: COPY a b: WHY PATH" */
int copy_bad(struct copy *c, const char *why, const char *path);

/* Makes c->source what stands at and below a path of the context or of the other stage. */
int copy_collect(struct copy *c, const char *path);

#endif
