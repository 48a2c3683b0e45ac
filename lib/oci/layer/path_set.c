/* SPDX-License-Identifier: MIT */
#include "oci/layer/path_set.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 1024 /* a power of two, as all rooms are */

static uint64_t path_set_hash(const char *text)
{
	uint64_t hash = 14695981039346656037ULL; /* FNV-1a */

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211ULL;
	return hash;
}

static const char **path_set_slot(const struct path_set *set, const char *path)
{
	size_t at = path_set_hash(path) & (set->room - 1);

	while (set->slots[at] && strcmp(set->slots[at], path) != 0)
		at = (at + 1) & (set->room - 1);
	return &set->slots[at];
}

bool path_set_has(const struct path_set *set, const char *path)
{
	return set->room && *path_set_slot(set, path);
}

static void path_set_grow(struct path_set *set)
{
	const char **old = set->slots;
	size_t room = set->room;

	set->room = room ? 4 * room : ROOM_FIRST;
	set->slots = xmalloc(set->room * sizeof(*set->slots));
	memset(set->slots, 0, set->room * sizeof(*set->slots));
	for (size_t i = 0; i < room; i++)
		if (old[i])
			*path_set_slot(set, old[i]) = old[i];
	free(old);
}

void path_set_add(struct path_set *set, const char *path)
{
	const char **slot;

	if (2 * (set->count + 1) > set->room)
		path_set_grow(set);
	slot = path_set_slot(set, path);
	if (*slot)
		return;
	*slot = arena_strdup(&set->arena, path);
	set->count++;
}

void path_set_release(struct path_set *set)
{
	free(set->slots);
	arena_release(&set->arena);
	*set = (struct path_set)PATH_SET_INIT;
}
