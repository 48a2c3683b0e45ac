/* SPDX-License-Identifier: MIT */
#include "builder/native/layer/tree.h"

#include <stdlib.h>
#include <string.h>

void tree_init(struct tree *tree)
{
	*tree = (struct tree){.arena = ARENA_INIT};
}

void tree_release(struct tree *tree)
{
	free(tree->list);
	arena_release(&tree->arena);
	*tree = (struct tree){.arena = ARENA_INIT};
}

struct tree_entry *tree_add(struct tree *tree, enum tree_type type, const char *path)
{
	struct tree_entry *entry;

	if (tree->count == tree->capacity) {
		tree->capacity = tree->capacity ? 2 * tree->capacity : 256;
		tree->list = xrealloc(tree->list, tree->capacity * sizeof(*tree->list));
	}
	entry = &tree->list[tree->count++];
	*entry = (struct tree_entry){.type = type, .path = arena_strdup(&tree->arena, path)};
	return entry;
}

int tree_path_compare(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	if (*a == *b)
		return 0;
	/* the end comes first, then '/': a folder stands before its content, that before "x.y" */
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

struct place {
	struct tree_entry entry;
	size_t index;
};

static int compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;
	int order = tree_path_compare(a->entry.path, b->entry.path);

	return order ? order : (a->index < b->index ? -1 : 1);
}

/* A later entry of the same path. A removal beside an entry is about the layers below alone. */
static void tree_merge(struct tree_entry *kept, const struct tree_entry *later)
{
	bool is_removed = kept->type == TREE_WHITEOUT || later->type == TREE_WHITEOUT;
	bool opaque = kept->opaque || later->opaque || (is_removed && kept->type != later->type);

	if (later->type != TREE_WHITEOUT)
		*kept = *later;
	kept->opaque = opaque && kept->type == TREE_FOLDER;
}

void tree_sort(struct tree *tree)
{
	struct place *places = xmalloc((tree->count + 1) * sizeof(*places));
	size_t kept = 0;

	for (size_t i = 0; i < tree->count; i++)
		places[i] = (struct place){tree->list[i], i};
	qsort(places, tree->count, sizeof(*places), compare_places);
	for (size_t i = 0; i < tree->count; i++) {
		bool same = kept && strcmp(tree->list[kept - 1].path, places[i].entry.path) == 0;

		if (same)
			tree_merge(&tree->list[kept - 1], &places[i].entry);
		else
			tree->list[kept++] = places[i].entry;
	}
	tree->count = kept;
	free(places);
}

/* The number of entries before `path`. */
static size_t lower_bound(const struct tree *tree, const char *path)
{
	size_t low = 0, high = tree->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (tree_path_compare(tree->list[middle].path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct tree_entry *tree_find(const struct tree *tree, const char *path)
{
	size_t index = lower_bound(tree, path);

	if (index == tree->count || strcmp(tree->list[index].path, path) != 0)
		return NULL;
	return &tree->list[index];
}

static bool is_below(const char *path, const char *folder)
{
	size_t length = strlen(folder);

	return !length || (strncmp(path, folder, length) == 0 &&
			   (path[length] == '/' || path[length] == '\0'));
}

const struct tree_entry *tree_below(const struct tree *tree, const char *path, size_t *count)
{
	size_t first = lower_bound(tree, path), end = first;

	while (end < tree->count && is_below(tree->list[end].path, path))
		end++;
	*count = end - first;
	return tree->list + first;
}
