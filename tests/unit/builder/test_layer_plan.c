/* SPDX-License-Identifier: MIT */
/* Layers cut at names: what changes takes few others along, and what was written is not written
 * again. */
#include "tests/unit/builder/layer_support.h"

#include "builder/native/layer/layer_plan.h"
#include "builder/native/store.h"

#include <string.h>

#define FILES 400
#define CUTS 12

static const struct layer_rule RULE = {.cuts = CUTS};

/* So many files of 1 MiB each, of a digest each; `source` NULL: their text is all the same. */
static void add_files(struct tree *tree, size_t count, const char *source)
{
	static char text[MIB + 1];
	char path[64];

	memset(text, 'x', MIB);
	for (size_t i = 0; i < count; i++) {
		struct tree_entry *entry;

		snprintf(path, sizeof(path), "data/%zu/%zu.bin", i / 10, i);
		entry = tree_add(tree, TREE_FILE, path);
		entry->mode = 0644;
		entry->source = source;
		entry->text = text;
		entry->size_bytes = MIB;
		entry->digest = arena_printf(&tree->arena, "sha256:%064zu", i);
	}
	tree_add(tree, TREE_FOLDER, "data")->mode = 0755;
	tree_sort(tree);
}

static size_t plan(const struct tree *tree, const struct layer_rule *rule, unsigned char *part_of)
{
	struct layer_plan plan = {.part_of = part_of};
	struct error err = {0};

	assert_fine(layer_plan(tree, rule, &plan, &err));
	return plan.count;
}

/*
 * How many parts of `after` no part of `before` equals, by their first entries and their lengths.
 */
static size_t new_parts(const struct tree *before, const struct tree *after)
{
	unsigned char was[2 * FILES], is[2 * FILES];
	size_t parts = plan(after, &RULE, is), found = 0;

	plan(before, &RULE, was);
	for (size_t i = 0, end; i < after->count; i = end) {
		const struct tree_entry *same = tree_find(before, after->list[i].path);
		size_t at = same ? (size_t)(same - before->list) : before->count, length = 0;

		for (end = i; end < after->count && is[end] == is[i]; end++)
			;
		while (at + length < before->count && length < end - i &&
		       was[at + length] == was[at] &&
		       strcmp(before->list[at + length].path, after->list[i + length].path) == 0)
			length++;
		found += at < before->count && length == end - i &&
			 (at == 0 || was[at - 1] != was[at]) &&
			 (at + length == before->count || was[at + length] != was[at]);
	}
	return parts - found;
}

static void test_cuts(void **state)
{
	unsigned char part_of[2 * FILES];
	struct tree tree;
	size_t count, held = 0;

	(void)state;
	tree_init(&tree);
	add_files(&tree, FILES, NULL);
	assert_int_equal(plan(&tree, &(struct layer_rule){0}, part_of), 1);
	count = plan(&tree, &RULE, part_of);
	assert_in_range(count, 3, CUTS); /* of 400 MiB, each of 64 MiB and some names more */
	for (size_t i = 1; i < tree.count; i++) {
		assert_in_range(part_of[i] - part_of[i - 1], 0, 1);
		held = part_of[i] == part_of[i - 1] ? held + 1 : 0;
		assert_true(held < 200);
	}
	tree_release(&tree);
	/* a tree that is smaller than the least is one layer, however many it may take */
	tree_init(&tree);
	add_files(&tree, LAYER_CUT_BYTES / MIB - 1, NULL);
	assert_int_equal(plan(&tree, &(struct layer_rule){.cuts = 100}, part_of), 1);
	tree_release(&tree);
}

/* A file more, a file less, a file that grew: one part is new, or two where a cut has moved. */
static void test_stays(void **state)
{
	struct tree before, after;

	(void)state;
	tree_init(&before);
	add_files(&before, FILES, NULL);
	for (size_t i = 0; i < FILES; i += 37) {
		tree_init(&after);
		add_files(&after, FILES, NULL);
		tree_add(&after, TREE_FILE, arena_printf(&after.arena, "data/%zu/new", i / 10))
			->text = "";
		tree_sort(&after);
		assert_in_range(new_parts(&before, &after), 1, 2);
		memmove(&after.list[i], &after.list[i + 2],
			(after.count - i - 2) * sizeof(*after.list));
		after.count -= 2;
		assert_in_range(new_parts(&before, &after), 1, 3);
		tree_release(&after);
	}
	tree_release(&before);
}

/* Parts that are known are not read: their files are gone. */
static void test_known_parts(void **state)
{
	struct scratch *s = *state;
	struct store *store = ARENA_NEW(&s->arena, struct store);
	struct layer_parts *one = ARENA_NEW(&s->arena, struct layer_parts);
	struct layer_parts *two = ARENA_NEW(&s->arena, struct layer_parts);
	char first[KEY_BYTES], second[KEY_BYTES], third[KEY_BYTES];
	struct tree_entry *changed;
	const char *folder;
	struct error err = {0};
	struct tree tree, others;
	size_t same = 0;

	store_key((const char *const[]){"first", NULL}, first);
	store_key((const char *const[]){"second", NULL}, second);
	store_key((const char *const[]){"third", NULL}, third);
	assert_fine(store_open(store, in(s, "store"), 1000, &s->arena, &err));
	tree_init(&tree);
	add_files(&tree, 60, NULL);
	store_add_list(store, first, &tree, 4, &s->arena);
	assert_false(store_has(store, first));
	assert_fine(store_parts(store, first, NULL, one, &err));
	assert_in_range(one->count, 2, 4);
	assert_true(store_has(store, first));
	tree_init(&others);
	add_files(&others, 60, in(s, "gone"));
	changed = &others.list[others.count - 1];
	changed->source = NULL;
	changed->digest = "sha256:new";
	changed->text = arena_printf(&s->arena, "%*d", (int)MIB, 1);
	/* the files beside it in its part are read again */
	for (size_t i = 1; i + 1 < others.count; i++)
		if (i > 40)
			others.list[i].source = NULL;
	store_add_list(store, second, &others, 4, &s->arena);
	assert_fine(store_parts(store, second, NULL, two, &err));
	assert_int_equal(one->count, two->count);
	for (size_t i = 0; i < one->count; i++)
		same += strcmp(one->list[i].diff_id, two->list[i].diff_id) == 0;
	assert_int_equal(same, one->count - 1);
	/*
	 * a part with a file that nobody knows is read, and so fails here until the file is there
	 */
	others.list[others.count / 2].digest = NULL;
	store_add_list(store, third, &others, 4, &s->arena);
	assert_fails(store_parts(store, third, NULL, two, &err), ERROR_FAILED, "gone");
	assert_fails(store_tree(store, third, &s->arena, &folder, &err), ERROR_FAILED, "gone");
	assert_false(store_has(store, third));
	put(s, "gone", "");
	assert_int_equal(truncate(in(s, "gone"), MIB), 0);
	assert_fine(store_parts(store, third, NULL, two, &err));
	tree_release(&tree);
	tree_release(&others);
	store_release(store);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_stays),
		SCRATCH_TEST(test_known_parts),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
