/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/layer_plan.h"

#include <string.h>

#define TAR_BLOCK_BYTES 512

static uint64_t content(const struct tree_entry *entry)
{
	return entry->type == TREE_FILE ? entry->size_bytes : 0;
}

static uint64_t room(const struct tree_entry *entry)
{
	return TAR_BLOCK_BYTES +
	       (content(entry) + TAR_BLOCK_BYTES - 1) / TAR_BLOCK_BYTES * TAR_BLOCK_BYTES;
}

/* FNV-1a (Fowler, Noll, Vo), 32 bits; its low bits are weak, so the high ones join them. */
static bool is_cut_name(const char *path)
{
	uint32_t hash = 2166136261U;

	for (; *path; path++)
		hash = (hash ^ (unsigned char)*path) * 16777619U;
	return (hash ^ hash >> 16) % LAYER_CUT_NAMES == 0;
}

/* How much a part must hold before it may end at a cut: a power of two, so it seldom changes. */
static uint64_t cut_bytes(const struct tree *tree, size_t cuts)
{
	uint64_t total = 0, least = LAYER_CUT_BYTES;

	if (!cuts)
		return UINT64_MAX;
	for (size_t i = 0; i < tree->count; i++)
		total += room(&tree->list[i]);
	while (least * cuts < total)
		least *= 2;
	return least;
}

/*
 * A hard link may stand in an earlier part than its folders. Then the folders begin there too, with
 * their marks, since an opaque folder's mark in a later part would hide the link.
 */
static void begin_folders(const struct tree *tree, const struct tree_entry *entry,
			  struct layer_plan *plan, unsigned char part)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	for (const char *p = entry->path; (p = strchr(p, '/')); p++) {
		const struct tree_entry *folder = tree_find(
			tree, arena_strndup(&arena, entry->path, (size_t)(p - entry->path)));

		if (folder && plan->part_of[folder - tree->list] > part)
			plan->part_of[folder - tree->list] = part;
	}
}

/* A hard link whose file stands before it goes into that file's part. */
static bool follows_file(const struct tree *tree, size_t index, struct layer_plan *plan)
{
	const struct tree_entry *entry = &tree->list[index], *file;

	if (entry->type != TREE_HARDLINK)
		return false;
	file = tree_find(tree, entry->link);
	if (!file || file > entry)
		return false;
	plan->part_of[index] = plan->part_of[file - tree->list];
	begin_folders(tree, entry, plan, plan->part_of[index]);
	return true;
}

int layer_plan(const struct tree *tree, const struct layer_rule *rule, struct layer_plan *plan,
	       struct error *err)
{
	uint64_t most = rule->bytes_max ? rule->bytes_max : LAYER_BYTES_MAX;
	uint64_t least = cut_bytes(tree, rule->cuts), filled = 0;
	size_t part = 0;
	bool any = false;

	for (size_t i = 0; i < tree->count; i++) {
		const struct tree_entry *entry = &tree->list[i];

		plan->part_of[i] = 0;
		if (!*entry->path) /* a layer has no entry for its root */
			continue;
		any = true;
		if (follows_file(tree, i, plan))
			continue;
		if (filled && (filled + room(entry) > most ||
			       (filled >= least && is_cut_name(entry->path)))) {
			part++;
			filled = 0;
		}
		if (part == LAYER_PARTS_MAX)
			return error_set(err, ERROR_FAILED, "more than %d layers of %llu MiB each",
					 LAYER_PARTS_MAX, (unsigned long long)(most / MIB));
		plan->part_of[i] = (unsigned char)part;
		filled += room(entry);
		plan->content_bytes += content(entry);
	}
	plan->count = any ? part + 1 : 0;
	return 0;
}
