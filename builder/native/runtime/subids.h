/* SPDX-License-Identifier: MIT */
/*
 * subids.h - the subordinate ids of a person: those that they may give to the users of a user
 * namespace. Source: subuid(5), subgid(5), newuidmap(1).
 */
#ifndef BUILDER_NATIVE_RUNTIME_SUBIDS_H
#define BUILDER_NATIVE_RUNTIME_SUBIDS_H

#include "core/arena.h"
#include "core/words.h"

#include <sys/types.h>

/* How many ids an image needs besides root's: Debian's "nobody" is 65534. */
#define SUBIDS_NEEDED 65534
#define SUBIDS_RANGES_MAX 32

struct subids {
	size_t count;
	struct {
		unsigned long start, length;
	} list[SUBIDS_RANGES_MAX];
};

/*
 * Reads the ranges that `path` (/etc/subuid or /etc/subgid) gives to the person of that name or
 * number, in the file's order; lines of another form are ignored. False when the file cannot be
 * read, or holds fewer ids than an image needs.
 */
bool subids_read(const char *path, const char *name, uid_t uid, struct subids *ids);

/* Whether `path` gives anybody an id of this range; false when it cannot be read. */
bool subids_overlap(const char *path, unsigned long start, unsigned long length);

/*
 * Adds the map "0 OWN 1 1 ...": the id `own` becomes root, and the ranges become the ids from 1 up.
 */
void subids_map(const struct subids *ids, unsigned long own, struct words *words);

#endif
