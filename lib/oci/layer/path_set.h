/* SPDX-License-Identifier: MIT */
/* path_set.h - a set of paths: an open hash, which holds copies of them. */
#ifndef OCI_LAYER_PATH_SET_H
#define OCI_LAYER_PATH_SET_H

#include "core/arena.h"

#define PATH_SET_INIT               \
	{                           \
		.arena = ARENA_INIT \
	}

struct path_set {
	struct arena arena;
	const char **slots; /* NULL: a free one */
	size_t count, room;
};

void path_set_add(struct path_set *set, const char *path);
bool path_set_has(const struct path_set *set, const char *path);
void path_set_release(struct path_set *set);

#endif
