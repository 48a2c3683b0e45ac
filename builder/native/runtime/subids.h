/* SPDX-License-Identifier: MIT */
/*
 * subids.h - the subordinate ids of a person: those that are theirs to give to the users inside of
 * a user namespace. Source: subuid(5), subgid(5), newuidmap(1).
 */
#ifndef BUILDER_NATIVE_RUNTIME_SUBIDS_H
#define BUILDER_NATIVE_RUNTIME_SUBIDS_H

#include "core/arena.h"
#include "core/words.h"

#include <sys/types.h>

/* What an image needs behind its root: Debian's "nobody" is 65534. */
#define SUBIDS_NEEDED 65534
#define SUBIDS_RANGES_MAX 32

struct subids {
	size_t count;
	struct {
		unsigned long start, length;
	} list[SUBIDS_RANGES_MAX];
};

/*
 * The ranges that `path` (/etc/subuid or /etc/subgid) gives to the person of that name or number,
 * in the file's order; lines that are not as they should be say nothing. False when the file cannot
 * be read, or they are fewer than an image needs.
 */
bool subids_read(const char *path, const char *name, uid_t uid, struct subids *ids);

/* Adds the map that makes the id `own` root, and the ranges the ids from 1 up: "0 OWN 1 1 ...". */
void subids_map(const struct subids *ids, unsigned long own, struct words *words);

#endif
