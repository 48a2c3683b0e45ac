/* SPDX-License-Identifier: MIT */
/* Layers kept between builds: whole or not at all, whoever else works in the store. */
#include "tests/unit/builder/native_support.h"

#include "builder/build.h"
#include "builder/native/store.h"
#include "core/log.h"
#include "core/words.h"

#include <pthread.h>
#include <sys/wait.h>

static struct store *open_store(struct scratch *s)
{
	struct store *store = ARENA_NEW(&s->arena, struct store);
	struct error err = {0};

	assert_fine(store_open(store, in(s, "store"), 1000, &s->arena, &err));
	return store;
}

static size_t count_names(struct scratch *s, const char *folder)
{
	struct error err = {0};
	const char **names;
	size_t count = 0;

	assert_fine(folder_list(in(s, folder), "", &s->arena, &names, &err));
	while (names[count])
		count++;
	return count;
}

static const char *key_of(struct scratch *s, const char *word)
{
	char *key = arena_alloc(&s->arena, KEY_BYTES);

	store_key((const char *const[]){word, NULL}, key);
	return key;
}

static void test_key(void **state)
{
	static const char *const same[][4] = {
		{NULL},		  {"", NULL},	   {"", "", NULL},	 {"a", NULL},
		{"a", "b", NULL}, {"ab", NULL},	   {"a", "", "b", NULL}, {"a\nb", NULL},
		{"a b", NULL},	  {"b", "a", NULL}};
	char keys[ARRAY_LEN(same)][KEY_BYTES];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		store_key(same[i], keys[i]);
		assert_int_equal(strlen(keys[i]), 64);
		assert_int_equal(strspn(keys[i], "0123456789abcdef"), 64);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(keys[i], keys[k]);
	}
}

static void make_upper(struct scratch *s, struct store *store, const char **folder)
{
	*folder = store_work_path(store, &s->arena);
	put(s, *folder + strlen(s->folder) + 1, "");
	unlink(*folder);
	put(s, arena_printf(&s->arena, "%s/a/file", *folder + strlen(s->folder) + 1), "1");
	assert_int_equal(mknod(arena_printf(&s->arena, "%s/gone", *folder), S_IFCHR, 0), 0);
}

static void test_tree_and_parts(void **state)
{
	static const char expected[] = "d 0755 0:0 .\nd 0755 0:0 a\n- 0644 0:0 a/file 1\n"
				       "w 0000 0:0 gone\n";
	struct scratch *s = *state;
	struct store *store = open_store(s);
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	struct layer_parts *again = ARENA_NEW(&s->arena, struct layer_parts);
	const char *folder, *key = key_of(s, "k"), *other = key_of(s, "other"), *found;
	const struct tree *list;
	struct error err = {0};
	struct stat st;

	needs_root();
	make_upper(s, store, &folder);
	assert_false(store_has(store, key));
	assert_fine(store_add_tree(store, key, folder, &err));
	assert_false(file_exists(folder));
	assert_true(store_has(store, key) && store_has_tree(store, key));
	assert_fine(store_tree(store, key, &s->arena, &found, &err));
	assert_lines(describe_folder(s, found), expected);
	assert_int_equal(stat(arena_printf(&s->arena, "%s/a/file", found), &st), 0);
	assert_int_equal(st.st_mtime, 1000);
	assert_fine(store_parts(store, key, NULL, parts, &err));
	assert_int_equal(parts->count, 1);
	assert_fine(store_parts(store, key, NULL, again, &err));
	assert_memory_equal(parts->list, again->list, sizeof(parts->list[0]));

	/* the other way: from its blobs */
	assert_fine(store_add_parts(store, other, parts, &err));
	assert_false(store_has_tree(store, other));
	assert_fine(store_list(store, other, &s->arena, &list, &err));
	assert_lines(describe(s, list), expected + strlen("d 0755 0:0 .\n"));
	assert_fine(store_tree(store, other, &s->arena, &found, &err));
	assert_lines(describe_folder(s, found), expected);
	assert_true(store_has_tree(store, other));
	assert_int_equal(count_names(s, "store/work"), 1);
	store_release(store);
	assert_int_equal(count_names(s, "store/work"), 0);
}

/* A layer in several parts is put together again, opaque folders and all. */
/* The second time the list is read from a file of its own, unless that is not whole. */
static void check_list_file(struct scratch *s, struct store *store, const char *key,
			    const char *text)
{
#define ENTRY "\"0 640 7 8 5 9 0 0\", \"x\", \"\""
	static const char *const bad[] = {"",
					  "{",
					  "[]",
					  "{\"entries\": 7}",
					  "{\"entries\": [" ENTRY ", \"0 640 7 8 5 9 0 0\"]}",
					  "{\"entries\": [" ENTRY ", 1, 2, 3]}",
					  "{\"entries\": [" ENTRY ", \"0 640\", \"y\", \"\"]}",
					  "{\"entries\": [" ENTRY
					  ", \"9 640 7 8 5 9 0 0\", \"y\", \"\"]}"};
	const char *path = arena_printf(&s->arena, "store/layers/%s/list.json", key);
	const struct tree *list;
	struct error err = {0};

	assert_fine(store_list(store, key, &s->arena, &list, &err));
	assert_lines(describe(s, list), text);
	put(s, path, "{\"entries\": [" ENTRY "]}");
#undef ENTRY
	assert_fine(store_list(store, key, &s->arena, &list, &err));
	assert_int_equal(list->count, 1);
	assert_string_equal(list->list[0].path, "x");
	assert_int_equal(list->list[0].mode, 0640);
	assert_int_equal(list->list[0].gid, 8);
	assert_int_equal(list->list[0].size_bytes, 9);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put(s, path, bad[i]);
		assert_fine(store_list(store, key, &s->arena, &list, &err));
		assert_lines(describe(s, list), text);
	}
}

static void test_several_parts(void **state)
{
	struct scratch *s = *state;
	struct store *store = open_store(s);
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	const struct tree_read_options options = {.is_overlay = true, .newest_s = 1000};
	const char *key = key_of(s, "k"), *found, *text;
	const struct tree *list;
	struct error err = {0};
	struct tree tree;

	needs_root();
	put(s, "f/a/b/1", "1");
	put(s, "f/a/b/2", "2");
	put(s, "f/z", "3");
	assert_int_equal(link(in(s, "f/a/b/1"), in(s, "f/y")), 0);
	assert_int_equal(setxattr(in(s, "f/a"), "trusted.overlay.opaque", "y", 1, 0), 0);
	assert_int_equal(chmod(in(s, "f/a"), 0700), 0);
	tree_init(&tree);
	assert_fine(tree_read(&tree, in(s, "f"), &options, &err));
	assert_fine(layer_write(&tree, store->layout, &(struct layer_rule){.bytes_max = 1}, NULL,
				parts, &err));
	tree_release(&tree);
	assert_in_range(parts->count, 4, 9);
	assert_fine(store_add_parts(store, key, parts, &err));
	text = describe_folder(s, in(s, "f"));
	assert_fine(store_list(store, key, &s->arena, &list, &err));
	assert_lines(describe(s, list), text + strlen("d 0755 0:0 .\n"));
	check_list_file(s, store, key, text + strlen("d 0755 0:0 .\n"));
	assert_fine(store_tree(store, key, &s->arena, &found, &err));
	assert_lines(describe_folder(s, found), text);
	store_release(store);
}

static void test_two_stores(void **state)
{
	struct scratch *s = *state;
	struct store *one = open_store(s), *two = open_store(s);
	const char *key = key_of(s, "k"), *first, *second, *found;
	struct error err = {0};

	needs_root();
	assert_string_not_equal(one->work, two->work);
	assert_int_equal(count_names(s, "store/work"), 2);
	make_upper(s, one, &first);
	make_upper(s, two, &second);
	assert_fine(store_add_tree(one, key, first, &err));
	/* what the other one has made meanwhile is as good */
	assert_fine(store_add_tree(two, key, second, &err));
	store_release(one);
	assert_int_equal(count_names(s, "store/work"), 1);
	assert_fine(store_tree(two, key, &s->arena, &found, &err));
	assert_true(file_exists(arena_printf(&s->arena, "%s/a/file", found)));
	assert_int_equal(count_names(s, "store/layers"), 1);
	store_release(two);
	assert_int_equal(count_names(s, "store/work"), 0);
}

/* Folders of builds that died go; those of builds under way stay. */
static void test_stale(void **state)
{
	struct scratch *s = *state;
	struct store *store = open_store(s), *next;
	pid_t child;

	put(s, "store/work/dead/7/file", "");
	child = fork();
	if (child == 0) {
		struct store dies;
		struct error err = {0};

		if (store_open(&dies, in(s, "store"), 0, &s->arena, &err) == 0)
			put(s, arena_printf(&s->arena, "%s/f", dies.work + strlen(s->folder) + 1),
			    "");
		_exit(0);
	}
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(count_names(s, "store/work"), 2); /* the first one's, the dead child's */
	next = open_store(s);
	assert_int_equal(count_names(s, "store/work"), 2);
	assert_true(file_exists(store->work) && file_exists(next->work));
	store_release(store);
	store_release(next);
}

static void *open_often(void *arg)
{
	struct arena arena = ARENA_INIT;
	struct error *err = arg;

	for (int i = 0; i < 100 && !err->kind; i++) {
		struct store store;

		if (store_open(&store, err->text, 0, &arena, &(struct error){0}) < 0 ||
		    !file_exists(store.work))
			err->kind = ERROR_FAILED;
		store_release(&store);
	}
	arena_release(&arena);
	return NULL;
}

/* Builds that begin at the same moment do not take each other's folder for a dead one's. */
static void test_open_at_once(void **state)
{
	struct scratch *s = *state;
	pthread_t threads[8];
	struct error err[8];

	for (int i = 0; i < 8; i++) {
		err[i] = (struct error){0};
		snprintf(err[i].text, sizeof(err[i].text), "%s", in(s, "store"));
		assert_int_equal(pthread_create(&threads[i], NULL, open_often, &err[i]), 0);
	}
	for (int i = 0; i < 8; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(err[i].kind, ERROR_NONE);
	}
	assert_int_equal(count_names(s, "store/work"), 0);
}

static void test_damaged(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"{\"parts\": 7}",
		"{\"parts\": [7]}",
		"{\"parts\": [{}]}",
		"{\"schema\": 1, \"parts\": [{\"mediaType\": \"x\", \"size\": 1, \"digest\": \"sha256:../../etc/passwd\", \"diffId\": \"sha256:x\"}]}"};
	struct scratch *s = *state;
	struct store *store = open_store(s);
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	const char *folder, *key = key_of(s, "k"), *path, *found;
	const struct tree *list;
	struct tree tree;
	struct error err = {0};

	needs_root();
	make_upper(s, store, &folder);
	assert_fine(store_add_tree(store, key, folder, &err));
	path = arena_printf(&s->arena, "store/layers/%s/parts.json", key);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		/* made anew from the tree */
		put(s, path, texts[i]);
		assert_fine(store_parts(store, key, NULL, parts, &err));
		assert_int_equal(parts->count, 1);
	}
	/* a blob is missing: packed again */
	unlink(blob_path(s, store->layout, &parts->list[0]));
	assert_fine(store_parts(store, key, NULL, parts, &err));
	assert_true(layout_has(store->layout, &parts->list[0].blob));
	/* with nothing to make it from */
	assert_fine(
		folder_remove(in(s, arena_printf(&s->arena, "store/layers/%s/tree", key)), &err));
	unlink(blob_path(s, store->layout, &parts->list[0]));
	assert_fails(store_tree(store, key, &s->arena, &found, &err), ERROR_FAILED, "is damaged");
	assert_has(err.text, in(s, arena_printf(&s->arena, "store/layers/%s", key)));
	assert_fails(store_list(store, key, &s->arena, &list, &err), ERROR_FAILED, "is damaged");
	assert_fails(store_parts(store, key, NULL, parts, &err), ERROR_FAILED, "is damaged");
	put(s, path, "{");
	assert_fails(store_list(store, key, &s->arena, &list, &err), ERROR_FAILED, "is damaged");

	/* whoever gave a list has it, before anything is written */
	tree_init(&tree);
	tree_add(&tree, TREE_FILE, "a")->text = "content";
	store_add_list(store, key, &tree, 0, &s->arena);
	assert_fine(store_list(store, key, &s->arena, &list, &err));
	assert_int_equal(list->count, 1);
	assert_string_equal(list->list[0].path, "a");
	tree_release(&tree);
	store_release(store);
}

/* A blob with another content than its name says. */
static void test_wrong_blob(void **state)
{
	struct scratch *s = *state;
	struct store *store = open_store(s);
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	const char *folder, *key = key_of(s, "k"), *other = key_of(s, "o"), *found, *blob;
	struct error err = {0};

	needs_root();
	make_upper(s, store, &folder);
	assert_fine(store_add_tree(store, key, folder, &err));
	assert_fine(store_parts(store, key, NULL, parts, &err));
	assert_fine(store_add_parts(store, other, parts, &err));
	blob = blob_path(s, store->layout, &parts->list[0]);
	assert_int_equal(truncate(blob, (off_t)parts->list[0].blob.size_bytes - 20), 0);
	assert_int_equal(truncate(blob, (off_t)parts->list[0].blob.size_bytes), 0);
	assert_fails(store_tree(store, other, &s->arena, &found, &err), ERROR_FAILED, blob);
	assert_false(store_has_tree(store, other));
	/* the mark of the first layer, which the disk may not have yet */
	assert_int_equal(count_names(s, store->work + strlen(s->folder) + 1), 1);
	store_release(store);
}

/* A layer's blob as it came from elsewhere: with a diffID that nobody has checked. */
static void test_unchecked(void **state)
{
	static const char *const packers[][4] = {
		{"gzip", "-n", NULL}, {"zstd", "-q", "--rm", NULL}, {"true", NULL}};
	static const char *const endings[] = {".gz", ".zst", ""};
	struct scratch *s = *state;
	struct store *store = open_store(s);
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	const struct tree *list;
	const char *found;

	for (size_t i = 0; i < ARRAY_LEN(packers); i++) {
		const char *name = arena_printf(&s->arena, "l%zu.tar", i), *key = key_of(s, name);
		struct made_tar tar = tar_make(s, name);
		struct words words = WORDS_INIT(&s->arena);
		struct layer_part *part = &parts->list[0];
		char right[DIGEST_TEXT_BYTES], *packed;
		struct error err = {0};
		size_t length;

		tar_file(&tar, "./a", name);
		assert_fine(digest_of_file(tar_end(&tar), right, &err));
		words_add_all(&words, packers[i]);
		words_add(&words, tar.path);
		assert_fine(proc_check(words.list, &err));
		assert_fine(file_read(arena_printf(&s->arena, "%s%s", tar.path, endings[i]), MIB,
				      &s->arena, &packed, &length, &err));
		/* gzip, says the manifest, whatever it is */
		assert_fine(layout_put(store->layout, packed, length, MEDIA_OCI_LAYER_GZIP,
				       &part->blob, &err));
		*parts = (struct layer_parts){.count = 1, .list[0].blob = part->blob};
		digest_of("something else", 14, part->diff_id);
		assert_fine(store_add_parts(store, key, parts, &err));
		assert_fails(store_list(store, key, &s->arena, &list, &err), ERROR_FAILED,
			     "the image's config says");
		assert_fails(store_tree(store, key, &s->arena, &found, &err), ERROR_FAILED,
			     "the image's config says");
		assert_false(store_has_tree(store, key));
		err = (struct error){0};
		assert_fine(store_parts(store, key, NULL, parts, &err));
		assert_fails(store_check(store, key, parts, &err), ERROR_FAILED, right);
		assert_false(parts->is_checked);

		err = (struct error){0};
		snprintf(part->diff_id, DIGEST_TEXT_BYTES, "%s", right);
		key = key_of(s, right);
		assert_fine(store_add_parts(store, key, parts, &err));
		assert_fine(store_parts(store, key, NULL, parts, &err));
		assert_false(parts->is_checked);
		assert_fine(store_check(store, key, parts, &err));
		assert_fine(store_parts(store, key, NULL, parts, &err));
		assert_true(parts->is_checked);
		assert_fine(store_list(store, key, &s->arena, &list, &err));
		assert_int_equal(list->count, 1);
	}
	store_release(store);
}

/* A dead build's mark of a layer that was added before this boot, or in it. */
static void test_marks(void **state)
{
	struct scratch *s = *state;
	struct store *store = open_store(s);
	const char *folder, *old = key_of(s, "old"), *young = key_of(s, "young"), *boot, **names;
	struct error err = {0};

	needs_root();
	make_upper(s, store, &folder);
	assert_fine(store_add_tree(store, old, folder, &err));
	assert_fine(folder_list(store->work, "", &s->arena, &names, &err));
	assert_true(starts_with(names[0], arena_printf(&s->arena, "moved-%s-", old)));
	boot = names[0] + strlen("moved-") + strlen(old) + 1;
	make_upper(s, store, &folder);
	assert_fine(store_add_tree(store, young, folder, &err));
	store_release(store);
	assert_int_equal(count_names(s, "store/work"), 0);

	put(s, arena_printf(&s->arena, "store/work/dead/moved-%s-%s", young, boot), "");
	put(s, arena_printf(&s->arena, "store/work/dead/moved-%s-an-older-boot", old), "");
	put(s, "store/work/dead/moved-../../layout-an-older-boot", "");
	store = open_store(s);
	assert_true(store_has_tree(store, young));
	assert_false(store_has(store, old));
	assert_true(file_exists(store->layout));
	assert_int_equal(count_names(s, "store/work"), 1);
	store_release(store);
}

/* What others may write, or have put there, is not used. */
static void test_others_write(void **state)
{
	static const char *const folders[] = {
		"store",	"store/layers",	      "store/work",
		"store/layout", "store/layout/blobs", "store/layout/blobs/sha256"};
	struct scratch *s = *state;
	struct store *store = open_store(s), refused;
	const char *folder, *key = key_of(s, "k"), *path;

	needs_root();
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		struct error err = {0};
		struct stat st;

		assert_int_equal(stat(in(s, folders[i]), &st), 0);
		assert_int_equal(chmod(in(s, folders[i]), st.st_mode | 020), 0);
		assert_fails(store_open(&refused, in(s, "store"), 0, &s->arena, &err), ERROR_FAILED,
			     "other users can change what is in it");
		assert_has(err.text, in(s, folders[i]));
		assert_has(err.text, "chmod go-w");
		assert_int_equal(chmod(in(s, folders[i]), st.st_mode), 0);
	}
	for (size_t i = 0; i < 2; i++) {
		struct error err = {0};

		make_upper(s, store, &folder);
		assert_fine(store_add_tree(store, key, folder, &err));
		path = in(s, arena_printf(&s->arena, "store/layers/%s", key));
		assert_true(store_has(store, key));
		assert_int_equal(i ? chmod(path, 0777) : chown(path, 65534, 65534), 0);
		log_setup(LOG_QUIET, false);
		assert_false(store_has(store, key));
		assert_false(file_exists(path));
	}
	store_release(store);
}

static void test_remove(void **state)
{
	struct scratch *s = *state;
	struct store *store = open_store(s);
	struct error err = {0};

	assert_fails(store_remove(in(s, "store"), &err), ERROR_FAILED, "a build is at work in");
	assert_true(file_exists(store->work));
	store_release(store);
	assert_fine(store_remove(in(s, "store"), &err));
	assert_false(file_exists(in(s, "store")));
	assert_fine(store_remove(in(s, "store"), &err));
}

static void test_other_owner(void **state)
{
	struct scratch *s = *state;
	struct store store;
	struct error err = {0};

	needs_root();
	assert_fine(folder_make(in(s, "store"), 0755, &err));
	assert_int_equal(chown(in(s, "store"), 65534, 65534), 0);
	assert_fails(store_open(&store, in(s, "store"), 0, &s->arena, &err), ERROR_FAILED,
		     "belongs to another person");
	err = (struct error){0};
	assert_fails(store_remove(in(s, "store"), &err), ERROR_FAILED, "belongs to another person");
	assert_int_equal(count_names(s, "store"), 0);
}

/* A person's cache under sudo, which keeps HOME: neither built in, nor removed, nor made there. */
static void test_other_cache(void **state)
{
	static const char *const theirs[] = {"home/.cache/ringup", "home/.cache", "home"};
	struct scratch *s = *state;
	const char *cache = in(s, theirs[0]), *folder;
	const struct build_options options = {.cache_folder = cache};
	const struct spec *spec = make_spec(s, "ARG SOURCE_DATE_EPOCH=1\nFROM scratch\n", NULL);
	struct cluster cluster;
	struct image image;

	needs_root();
	cluster_init("cluster.yaml", &s->arena, &cluster);
	for (size_t i = 0; i < ARRAY_LEN(theirs); i++) {
		struct error err = {0};

		put(s, "home/.cache/ringup/native/layers/kept", "");
		assert_int_equal(chown(in(s, theirs[i]), 65534, 65534), 0);
		for (size_t is_build = 0; is_build < 2; is_build++) {
			err = (struct error){0};
			if (is_build)
				assert_fails(build_image(&cluster, spec, &options, &s->arena,
							 &image, &err),
					     ERROR_FAILED, in(s, theirs[i]));
			else
				assert_fails(build_clear(cache, &s->arena, &folder, &err),
					     ERROR_FAILED, in(s, theirs[i]));
			assert_has(err.text, "belongs to another person, nobody (uid 65534)");
			assert_has(err.text, "this is root (uid 0)");
			assert_has(err.text, "XDG_CACHE_HOME");
		}
		assert_true(file_exists(in(s, "home/.cache/ringup/native/layers/kept")));
		assert_int_equal(chown(in(s, theirs[i]), 0, 0), 0);
		err = (struct error){0};
		assert_fine(build_clear(cache, &s->arena, &folder, &err));
		assert_false(file_exists(folder));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_key),		  SCRATCH_TEST(test_tree_and_parts),
		SCRATCH_TEST(test_several_parts), SCRATCH_TEST(test_two_stores),
		SCRATCH_TEST(test_stale),	  SCRATCH_TEST(test_open_at_once),
		SCRATCH_TEST(test_damaged),	  SCRATCH_TEST(test_wrong_blob),
		SCRATCH_TEST(test_remove),	  SCRATCH_TEST(test_other_owner),
		SCRATCH_TEST(test_unchecked),	  SCRATCH_TEST(test_marks),
		SCRATCH_TEST(test_others_write),  SCRATCH_TEST(test_other_cache),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
