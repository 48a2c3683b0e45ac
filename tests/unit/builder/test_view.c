/* SPDX-License-Identifier: MIT */
/* Layers on top of each other: lookups by hand, and whole stacks against a real overlay mount. */
#include "tests/unit/builder/layer_support.h"

#include "builder/native/runtime/view.h"

#define LAYERS_MAX_HERE 6

struct stack {
	struct view view;
	const char *folders[LAYERS_MAX_HERE];
	struct tree lists[LAYERS_MAX_HERE]; /* of the layers in memory */
	bool in_memory[LAYERS_MAX_HERE];
};

static void opaque(const char *folder)
{
	assert_int_equal(setxattr(folder, "trusted.overlay.opaque", "y", 1, 0), 0);
}

/* A layer as words: "a/" a folder, "a=text" a file, "a>b" a link, "a!" an opaque folder, "-a"
 * removed. */
static void make_layer(struct scratch *s, const char *folder, const char *words)
{
	char *all = arena_strdup(&s->arena, words), *word, *rest = all;
	struct error err = {0};

	assert_fine(folder_make(folder, 0755, &err));
	while ((word = strtok_r(rest, " ", &rest))) {
		char *mark = word + strcspn(word + (*word == '-'), "=>!") + (*word == '-');
		char how = *mark;
		const char *path;

		*mark = '\0';
		path = arena_printf(&s->arena, "%s/%s", folder, word + (*word == '-'));
		if (*word == '-' || how == '=' || how == '>')
			assert_fine(folder_make(path_folder(&s->arena, path), 0755, &err));
		else
			assert_fine(folder_make(path, 0755, &err));
		if (*word == '-')
			assert_int_equal(mknod(path, S_IFCHR, makedev(0, 0)), 0);
		else if (how == '=')
			assert_fine(file_write(path, mark + 1, strlen(mark + 1), 0644, &err));
		else if (how == '>')
			assert_int_equal(symlink(mark + 1, path), 0);
		else if (how == '!')
			opaque(path);
	}
}

/* The folder as a layer that is known by its list alone. */
static void list_layer(struct scratch *s, const char *folder, struct tree *list)
{
	const struct tree_read_options options = {.is_overlay = true, .newest_s = 1000};
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	struct error err = {0};
	struct tree tree;

	tree_init(&tree);
	assert_fine(layout_init(in(s, "layout"), &err));
	assert_fine(tree_read(&tree, folder, &options, &err));
	assert_fine(layer_write(&tree, in(s, "layout"), NULL, NULL, parts, &err));
	for (size_t i = 0; i < parts->count; i++)
		assert_fine(layer_list(blob_path(s, in(s, "layout"), &parts->list[i]), NULL, NULL,
				       list, &err));
	tree_release(&tree);
}

static void add_layer(struct scratch *s, struct stack *stack, bool in_memory)
{
	size_t i = stack->view.count++;

	stack->in_memory[i] = in_memory;
	tree_init(&stack->lists[i]);
	stack->view.list[i] = (struct view_layer){.folder = stack->folders[i]};
	if (!in_memory)
		return;
	list_layer(s, stack->folders[i], &stack->lists[i]);
	stack->view.list[i] = (struct view_layer){.tree = &stack->lists[i]};
}

/* From the lowest up. Bit i of `memory`: layer i is in memory. */
static struct stack *make_stack(struct scratch *s, const char *const *layers, unsigned memory)
{
	struct stack *stack = ARENA_NEW(&s->arena, struct stack);

	for (size_t i = 0; layers[i]; i++) {
		stack->folders[i] = in(s, arena_printf(&s->arena, "s%zu", i));
		if (!file_exists(stack->folders[i]))
			make_layer(s, stack->folders[i], layers[i]);
		add_layer(s, stack, memory >> i & 1);
	}
	return stack;
}

static void release_stack(struct stack *stack)
{
	for (size_t i = 0; i < stack->view.count; i++)
		tree_release(&stack->lists[i]);
}

static const char *find(struct scratch *s, struct stack *stack, const char *path)
{
	struct tree_entry entry;
	struct error err = {0};
	bool found;

	assert_fine(view_find(&stack->view, path, &s->arena, &entry, &found, &err));
	if (!found)
		return "nothing";
	if (entry.type == TREE_FILE)
		return arena_printf(&s->arena, "file of %d", (int)entry.size_bytes);
	return entry.type == TREE_FOLDER ? "folder"
					 : arena_printf(&s->arena, "link to %s", entry.link);
}

static void test_lookups(void **state)
{
	static const char *const layers[] = {
		"a/ a/low=1 f=1 was-folder/x=1 gone=1 old/x=1 old/y=1 l>f deep/a/b/c=1",
		"f=22 -gone was-folder=22 a/mid=22 old! old/z=22 l/in=22 -deep/a/b",
		"a/top=333 was-folder/new=333 gone/x=333 -a/mid deep/a/b/d=333 l>other", NULL};
	static const struct {
		const char *path, *expected;
	} rows[] = {
		{"f", "file of 2"},
		{"a", "folder"},
		{"a/low", "file of 1"},
		{"a/mid", "nothing"},
		{"a/top", "file of 3"},
		{"a/low/x", "nothing"},
		{"gone", "folder"},
		{"gone/x", "file of 3"},
		{"was-folder", "folder"},
		{"was-folder/x", "nothing"},
		{"was-folder/new", "file of 3"},
		{"old/x", "nothing"},
		{"old/z", "file of 2"},
		{"l", "link to other"},
		{"l/in", "nothing"},
		{"deep/a/b/c", "nothing"},
		{"deep/a/b/d", "file of 3"},
		{"deep/a", "folder"},
		{"no", "nothing"},
		{"no/no", "nothing"},
	};
	struct scratch *s = *state;

	needs_root();
	for (unsigned memory = 0; memory < 8; memory++) {
		struct stack *stack = make_stack(s, layers, memory);

		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			if (strcmp(find(s, stack, rows[i].path), rows[i].expected) != 0)
				fail_msg("%s: %s, not %s (in memory: %u)", rows[i].path,
					 find(s, stack, rows[i].path), rows[i].expected, memory);
		release_stack(stack);
	}
}

static void test_resolve(void **state)
{
	static const char *const layers[] = {
		"usr/bin/dash=1 bin>usr/bin usr/bin/sh>dash lib>/usr/lib usr/lib/x=1 a/up>../bin self>self one>two two>one dots>./a/../bin/./sh out>../../../usr to-file>usr/lib/x none>missing/below root>/ empty/",
		"over>usr", "-empty bin2>/bin/../bin/sh", NULL};
	static const struct {
		const char *path, *expected;
	} rows[] = {
		{"", ""},
		{"/", ""},
		{"bin/sh", "usr/bin/dash"},
		{"/bin//./sh/", "usr/bin/dash"},
		{"lib/x", "usr/lib/x"},
		{"a/up/sh", "usr/bin/dash"},
		{"dots", "usr/bin/dash"},
		{"out/bin/sh", "usr/bin/dash"}, /* never above the root */
		{"../../bin", "usr/bin"},
		{"a/..", ""},
		{"over/lib", "usr/lib"},
		{"bin2", "usr/bin/dash"},
		{"none", "missing/below"},
		{"none/x/../y", "missing/below/y"},
		{"missing/x", "missing/x"},
		{"root/root/bin", "usr/bin"},
		{"to-file/x", "usr/lib/x/x"},
		{"empty/../bin", "usr/bin"},
	};
	struct scratch *s = *state;
	struct error err = {0};
	char real[TREE_PATH_BYTES];

	needs_root();
	for (unsigned memory = 0; memory < 8; memory++) {
		struct stack *stack = make_stack(s, layers, memory);

		for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
			assert_fine(view_resolve(&stack->view, rows[i].path, real, &err));
			assert_string_equal(real, rows[i].expected);
		}
		assert_fails(view_resolve(&stack->view, "self", real, &err), ERROR_FAILED,
			     "in a circle");
		assert_fails(view_resolve(&stack->view, "x/../one/y", real, &err), ERROR_FAILED,
			     "in a circle");
		release_stack(stack);
	}
}

static void test_read(void **state)
{
	static const char *const layers[] = {"etc/passwd=first a/",
					     "etc/passwd=second p>etc/passwd", NULL};
	struct scratch *s = *state;
	struct stack *stack = make_stack(s, layers, 0);
	struct error err = {0};
	const char *text;

	assert_fine(view_read(&stack->view, "p", 100, &s->arena, &text, &err));
	assert_string_equal(text, "second");
	assert_fine(view_read(&stack->view, "a", 100, &s->arena, &text, &err));
	assert_null(text);
	assert_fine(view_read(&stack->view, "b", 100, &s->arena, &text, &err));
	assert_null(text);
	assert_fails(view_read(&stack->view, "p", 3, &s->arena, &text, &err), ERROR_FAILED,
		     "passwd");
	release_stack(stack);
}

/* Some layers have no entries for the folders of their files. */
static void test_implied(void **state)
{
	struct scratch *s = *state;
	struct stack *stack = make_stack(s, (const char *const[]){"c=1", NULL}, 0);
	struct made_tar tar = tar_make(s, "t.tar");
	struct error err = {0};

	tar_file(&tar, "a/b/f", "22");
	tar_file(&tar, "c/f", "22");
	add_layer(s, stack, false);
	stack->view.list[1] = (struct view_layer){.tree = &stack->lists[1]};
	assert_fine(layer_list(tar_end(&tar), NULL, NULL, &stack->lists[1], &err));
	assert_string_equal(find(s, stack, "a/b"), "folder");
	assert_string_equal(find(s, stack, "c"), "folder");
	assert_string_equal(find(s, stack, "a/b/f"), "file of 2");
	assert_string_equal(find(s, stack, "a/c"), "nothing");
	release_stack(stack);
}

static void test_no_layers(void **state)
{
	struct scratch *s = *state;
	struct stack *stack = ARENA_NEW(&s->arena, struct stack);

	assert_string_equal(find(s, stack, "a"), "nothing");
	assert_string_equal(find(s, stack, ""), "nothing");
}

/* --- against the kernel ---------------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The lines in the order of their bytes. */
static const char *sorted(struct scratch *s, const char *text)
{
	char *rest = arena_strdup(&s->arena, text), *line;
	const char **lines = ARENA_ARRAY(&s->arena, strlen(text) + 1, const char *);
	struct str out = STR_INIT;
	size_t count = 0;

	while ((line = strtok_r(rest, "\n", &rest)))
		lines[count++] = line;
	qsort(lines, count, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < count; i++)
		str_addf(&out, "%s\n", lines[i]);
	text = arena_strdup(&s->arena, out.text);
	str_release(&out);
	return text;
}

/* What Linux shows of the folders, the last on top. */
static const char *mounted(struct scratch *s, const struct stack *stack)
{
	static const char script[] =
		"mount -t overlay overlay -o \"ro,lowerdir=$1\" \"$2\" && cd \"$2\" &&\n"
		"find . -mindepth 1 \\( -type f -printf '%P file %m %s\\n' -o -type l -printf '%P link %l\\n' -o -type d -printf '%P folder %m\\n' \\)";
	const char *lower = in(s, "none"), *at = in(s, "mounted");
	struct proc_result result = {0};
	struct error err = {0};
	const char *text;

	for (size_t i = 0; i < stack->view.count; i++)
		lower = arena_printf(&s->arena, "%s:%s", stack->folders[i], lower);
	assert_fine(folder_make(in(s, "none"), 0755, &err));
	assert_fine(folder_make(at, 0755, &err));
	assert_fine(proc_run(&(struct proc){.words = WORDS("unshare", "-m", "sh", "-c", script,
							   "sh", lower, at)},
			     &result, &err));
	if (result.status)
		fail_msg("an overlay mount is needed here: %s", result.err.text);
	text = sorted(s, result.out.text);
	proc_result_release(&result);
	return text;
}

static const char *collected(struct scratch *s, const struct stack *stack, const char *path)
{
	struct error err = {0};
	struct tree tree;
	const char *text;
	struct str out = STR_INIT;

	tree_init(&tree);
	assert_fine(view_collect(&stack->view, path, &tree, &err));
	for (size_t i = 0; i < tree.count; i++) {
		const struct tree_entry *e = &tree.list[i];

		if (!*e->path)
			continue;
		if (i)
			assert_true(tree_path_compare(tree.list[i - 1].path, e->path) < 0);
		if (e->type == TREE_FILE)
			str_addf(&out, "%s file %o %d\n", e->path, e->mode, (int)e->size_bytes);
		else if (e->type == TREE_SYMLINK)
			str_addf(&out, "%s link %s\n", e->path, e->link);
		else
			str_addf(&out, "%s folder %o\n", e->path, e->mode);
	}
	text = sorted(s, out.text);
	str_release(&out);
	tree_release(&tree);
	return text;
}

/* Each line of the listing is found, in itself and with all below it. */
static void check_each(struct scratch *s, struct stack *stack, struct stack *mixed,
		       const char *listing)
{
	for (const char *line = listing; *line; line += strcspn(line, "\n") + 1) {
		const char *path = arena_strndup(&s->arena, line, strcspn(line, " "));
		const char *kind = line + strlen(path) + 1, *below;

		if (strncmp(find(s, stack, path), kind, 4) != 0 ||
		    strcmp(find(s, mixed, path), find(s, stack, path)) != 0)
			fail_msg("%s is %s, and %s", path, find(s, stack, path),
				 find(s, mixed, path));
		below = collected(s, stack, path);
		assert_true(starts_with(below,
					arena_strndup(&s->arena, line, strcspn(line, "\n") + 1)) ||
			    strstr(below, arena_printf(&s->arena, "\n%s ", path)));
		for (; *below; below += strcspn(below, "\n") + 1)
			assert_has(listing,
				   arena_strndup(&s->arena, below, strcspn(below, "\n") + 1));
	}
}

/* No other path is found. */
static void check_missing(struct scratch *s, struct stack *disk, struct stack *mixed,
			  const char *listing)
{
	for (int i = 0; i < 64; i++) {
		const char *path = arena_printf(&s->arena, "%c/%c/%c", 'a' + i % 4, 'a' + i / 4 % 4,
						'a' + i / 16);
		bool is_there = strstr(listing, arena_printf(&s->arena, "%s ", path)) != NULL;

		if ((strcmp(find(s, disk, path), "nothing") != 0) != is_there ||
		    (strcmp(find(s, mixed, path), "nothing") != 0) != is_there)
			fail_msg("%s is %s, and %s", path, find(s, disk, path),
				 find(s, mixed, path));
	}
}

static void test_made_stacks(void **state)
{
	static const char *const stacks[][6] = {
		{"a=1 b/c=1", "a=2", "b/d=3", NULL},
		{"a/x=1 a/y=1", "a=2", "a/z=3", NULL},
		{"a/x=1 a/y=1", "-a", "a/z=3", NULL},
		{"a/x=1 a/b/y=1", "a! a/n=2", "-a/n a/b/m=3", NULL},
		{"a/b/c/d=1", "-a/b", "a/b/c/e=3", "a/b/c! a/b/c/f=4", NULL},
		{"a>b b/x=1", "a/x=2", "a>c", NULL},
		{"a/b=1 a/b.c=1 a/b-=1 ab=1", "-a/b", "a/b/x=1 -ab", NULL},
	};
	struct scratch *s = *state;

	needs_root();
	for (size_t i = 0; i < ARRAY_LEN(stacks); i++) {
		const char *expected;
		struct error err = {0};

		struct stack *disk = make_stack(s, stacks[i], 0);

		expected = mounted(s, disk);
		assert_lines(collected(s, disk, ""), expected);
		for (unsigned memory = 0; memory < 16; memory += 1 + memory % 3) {
			struct stack *mixed = make_stack(s, stacks[i], memory);

			check_each(s, disk, mixed, expected);
			release_stack(mixed);
		}
		release_stack(disk);
		for (size_t k = 0; stacks[i][k]; k++)
			assert_fine(folder_remove(in(s, arena_printf(&s->arena, "s%zu", k)), &err));
	}
}

static unsigned next_random(unsigned *seed)
{
	*seed = *seed * 1664525 + 1013904223;
	return *seed >> 16;
}

/* One random thing at a random path, unless the layer has something else there. */
static void random_step(struct scratch *s, const char *folder, unsigned *seed, int size)
{
	const char *path = folder;
	int depth = 1 + (int)(next_random(seed) % 3);
	struct error err = {0};
	struct stat st;

	for (int i = 0; i < depth; i++) {
		if (lstat(path, &st) == 0 && !S_ISDIR(st.st_mode))
			return;
		assert_fine(folder_make(path, 0755, &err));
		path = arena_printf(&s->arena, "%s/%c", path, 'a' + next_random(seed) % 3);
	}
	if (lstat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode) && next_random(seed) % 3 == 0)
			opaque(path);
		return;
	}
	switch (next_random(seed) % 5) {
	case 0:
	case 1:
		assert_int_equal(mknod(path, S_IFREG | 0640, 0), 0);
		assert_int_equal(truncate(path, size), 0);
		break;
	case 2:
		assert_int_equal(symlink("b", path), 0);
		break;
	case 3:
		assert_int_equal(mkdir(path, 0700 + next_random(seed) % 8), 0);
		break;
	default:
		assert_int_equal(mknod(path, S_IFCHR, makedev(0, 0)), 0);
	}
}

static void test_random_stacks(void **state)
{
	struct scratch *s = *state;
	unsigned seed = 20240229;

	needs_root();
	for (int round = 0; round < 60; round++) {
		struct stack *disk = ARENA_NEW(&s->arena, struct stack);
		struct stack *mixed = ARENA_NEW(&s->arena, struct stack);
		size_t count = 2 + next_random(&seed) % (LAYERS_MAX_HERE - 1);
		const char *expected;

		for (size_t i = 0; i < count; i++) {
			const char *name = arena_printf(&s->arena, "r%d/%zu", round, i);
			struct error err = {0};

			disk->folders[i] = mixed->folders[i] = in(s, name);
			assert_fine(folder_make(in(s, name), 0755, &err));
			for (int step = 0; step < 14; step++)
				random_step(s, in(s, name), &seed, (int)(20 * i) + step);
			add_layer(s, disk, false);
			add_layer(s, mixed, next_random(&seed) % 2);
		}
		expected = mounted(s, disk);
		assert_lines(collected(s, disk, ""), expected);
		check_each(s, disk, mixed, expected);
		check_missing(s, disk, mixed, expected);
		release_stack(disk);
		release_stack(mixed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_lookups),	  SCRATCH_TEST(test_resolve),
		SCRATCH_TEST(test_read),	  SCRATCH_TEST(test_no_layers),
		SCRATCH_TEST(test_implied),	  SCRATCH_TEST(test_made_stacks),
		SCRATCH_TEST(test_random_stacks),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
