/* SPDX-License-Identifier: MIT */
/* Trees: their order, and what is read of a folder on disk. */
#include "tests/unit/builder/layer_support.h"

#include "core/clock.h"

#include <sys/socket.h>
#include <sys/un.h>

static void test_order(void **state)
{
	/* a folder, what is in it, and only then names that go on behind its own */
	static const char *const sorted[] = {"",    "A",      "a",   "a/b",    "a/b/c",	 "a/b!",
					     "a/c", "a ",     "a!b", "a-b",    "a.b",	 "aa",
					     "b",   "b/\x01", "b/~", "b/\xc3", "b/\xff", "c"};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
		for (size_t k = 0; k < ARRAY_LEN(sorted); k++) {
			int order = tree_path_compare(sorted[i], sorted[k]);

			if ((i < k && order >= 0) || (i == k && order) || (i > k && order <= 0))
				fail_msg("'%s' and '%s': %d", sorted[i], sorted[k], order);
		}
}

static void test_sort_and_find(void **state)
{
	static const char *const added[] = {"b/x", "b", "a.c", "a/b", "b.c", "a", "b/y/z", "b/y"};
	const struct tree_entry *below;
	struct tree tree;
	size_t count;

	(void)state;
	tree_init(&tree);
	assert_null(tree_find(&tree, "a"));
	tree_below(&tree, "", &count);
	assert_int_equal(count, 0);
	tree_sort(&tree);
	for (size_t i = 0; i < ARRAY_LEN(added); i++)
		tree_add(&tree, TREE_FILE, added[i])->size_bytes = i;
	tree_add(&tree, TREE_FILE, "b/x")->size_bytes = 99;
	tree_sort(&tree);
	assert_int_equal(tree.count, ARRAY_LEN(added));
	/* of two of one path the later one stays */
	assert_int_equal(tree_find(&tree, "b/x")->size_bytes, 99);
	for (size_t i = 0; i < ARRAY_LEN(added); i++)
		assert_string_equal(tree_find(&tree, added[i])->path, added[i]);
	assert_null(tree_find(&tree, ""));
	assert_null(tree_find(&tree, "b/"));
	assert_null(tree_find(&tree, "b/y/"));
	below = tree_below(&tree, "b", &count);
	assert_int_equal(count, 4);
	assert_string_equal(below->path, "b");
	assert_string_equal(below[3].path, "b/y/z");
	tree_below(&tree, "b/y/z", &count);
	assert_int_equal(count, 1);
	tree_below(&tree, "", &count);
	assert_int_equal(count, tree.count);
	tree_below(&tree, "c", &count);
	assert_int_equal(count, 0);
	tree_release(&tree);
}

static const char *read_with(struct scratch *s, const char *folder,
			     const struct tree_read_options *options)
{
	struct error err = {0};
	struct tree tree;
	const char *text;

	tree_init(&tree);
	assert_fine(tree_read(&tree, folder, options, &err));
	text = describe(s, &tree);
	tree_release(&tree);
	return text;
}

static void make_socket(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	_cleanup_(fd_close) int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
}

/* What any user can make. */
static void make_folder(struct scratch *s)
{
	put(s, "f/b/file", "12345");
	put(s, "f/a.c", "");
	assert_int_equal(mkdir(in(s, "f/a"), 0700), 0);
	assert_int_equal(chmod(in(s, "f/a"), 0700), 0);
	assert_int_equal(chmod(in(s, "f/a.c"), 0710), 0);
	assert_int_equal(link(in(s, "f/b/file"), in(s, "f/b/other")), 0);
	assert_int_equal(symlink("../a.c", in(s, "f/b/link")), 0);
}

static const char *mine(struct scratch *s, const char *text)
{
	struct str out = STR_INIT;
	const char *result;

	for (; *text; text++)
		if (*text == '@')
			str_addf(&out, "%u:%u", geteuid(), getegid());
		else
			str_add_char(&out, *text);
	result = arena_strdup(&s->arena, out.text);
	str_release(&out);
	return result;
}

static void test_read(void **state)
{
	const struct tree_read_options plain = {.newest_s = INT64_MAX};
	const struct tree_read_options prefix = {.prefix = "x/y",
						 .owner_root = true,
						 .plain_modes = true,
						 .no_special = true,
						 .separate = true,
						 .newest_s = INT64_MAX};
	struct scratch *s = *state;

	make_folder(s);
	make_socket(in(s, "f/b/socket"));
	assert_string_equal(read_with(s, in(s, "f"), &plain),
			    mine(s, "d 0755 @ .\n"
				    "d 0700 @ a\n"
				    "- 0710 @ a.c 0\n"
				    "d 0755 @ b\n"
				    "- 0644 @ b/file 5\n"
				    "l 0777 @ b/link -> ../a.c\n"
				    "h 0644 @ b/other -> b/file\n"));
	assert_int_equal(unlink(in(s, "f/b/socket")), 0);
	assert_string_equal(read_with(s, in(s, "f"), &prefix), "d 0755 0:0 x/y\n"
							       "d 0755 0:0 x/y/a\n"
							       "- 0755 0:0 x/y/a.c 0\n"
							       "d 0755 0:0 x/y/b\n"
							       "- 0644 0:0 x/y/b/file 5\n"
							       "l 0777 0:0 x/y/b/link -> ../a.c\n"
							       "- 0644 0:0 x/y/b/other 5\n");
	/* a single file */
	assert_string_equal(read_with(s, in(s, "f/b/file"), &prefix), "- 0644 0:0 x/y 5\n");
}

static void read_refused(struct scratch *s, const char *folder, const char *why)
{
	const struct tree_read_options options = {.no_special = true, .newest_s = INT64_MAX};
	struct error err;
	struct tree tree;

	tree_init(&tree);
	assert_fails(tree_read(&tree, folder, &options, &err), ERROR_USAGE, why);
	assert_has(err.text, s->folder);
	tree_release(&tree);
}

/* A person's files. */
static void test_no_special(void **state)
{
	static const char *const leaving[] = {"/etc/passwd", "..",     "../x",
					      "a/../../x",   "./../x", "../../f/a.c"};
	static const char *const staying[] = {"a.c", "./a.c", "b/../a.c"};
	struct scratch *s = *state;

	make_folder(s);
	for (size_t i = 0; i < ARRAY_LEN(leaving); i++) {
		assert_int_equal(symlink(leaving[i], in(s, "f/l")), 0);
		read_refused(s, in(s, "f"), arena_printf(&s->arena, "link to %s,", leaving[i]));
		assert_int_equal(unlink(in(s, "f/l")), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(staying); i++) {
		assert_int_equal(symlink(staying[i], in(s, "f/l")), 0);
		read_with(s, in(s, "f"), &(struct tree_read_options){.no_special = true});
		assert_int_equal(unlink(in(s, "f/l")), 0);
	}
	assert_int_equal(mkfifo(in(s, "f/pipe"), 0600), 0);
	read_refused(s, in(s, "f"), "a device, a pipe or a socket");
	assert_int_equal(unlink(in(s, "f/pipe")), 0);
	make_socket(in(s, "f/pipe"));
	read_refused(s, in(s, "f"), "a device, a pipe or a socket");
}

static void set_time(const char *path, time_t seconds, long nanoseconds)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {seconds, nanoseconds}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void test_times(void **state)
{
	const struct tree_read_options options = {.newest_s = 1000, .clamp_on_disk = true};
	static const struct {
		const char *name;
		time_t seconds;
		long nanoseconds;
		time_t after, after_ns, expected;
	} rows[] = {
		{"f/b", 2000, 5, 1000, 0, 1000},      {"f/b/file", 999, 7, 999, 7, 999},
		{"f/b/link", 5000, 0, 1000, 0, 1000}, {"f/a", 1000, 0, 1000, 0, 1000},
		{"f/a.c", 1000, 9, 1000, 0, 1000},
	};
	struct scratch *s = *state;
	struct error err = {0};
	struct tree tree;
	struct stat st;

	make_folder(s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		set_time(in(s, rows[i].name), rows[i].seconds, rows[i].nanoseconds);
	tree_init(&tree);
	assert_fine(tree_read(&tree, in(s, "f"), &options, &err));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(tree_find(&tree, rows[i].name + 2)->mtime_s, rows[i].expected);
		assert_int_equal(lstat(in(s, rows[i].name), &st), 0);
		assert_int_equal(st.st_mtim.tv_sec, rows[i].after);
		assert_int_equal(st.st_mtim.tv_nsec, rows[i].after_ns);
	}
	tree_release(&tree);
}

static void test_attributes(void **state)
{
	const struct tree_read_options plain = {.newest_s = INT64_MAX};
	const struct tree_read_options overlay = {.newest_s = INT64_MAX, .is_overlay = true};
	struct scratch *s = *state;
	const char *file = put(s, "f/file", ""), *folder = in(s, "f/opaque");

	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(setxattr(file, "user.b", "2", 1, 0), 0);
	assert_int_equal(setxattr(file, "user.a", "", 0, 0), 0);
	assert_int_equal(setxattr(folder, "user.overlay.opaque", "y", 1, 0), 0);
	assert_has(read_with(s, in(s, "f"), &plain), " file 0 user.a= user.b=2\n");
	assert_lacks(read_with(s, in(s, "f"), &plain), "opaque opaque");
	assert_lacks(read_with(s, in(s, "f"), &plain), "user.overlay");
	assert_has(read_with(s, in(s, "f"), &overlay), " opaque opaque\n");
	/* "n" and longer values are no mark */
	assert_int_equal(setxattr(folder, "user.overlay.opaque", "n", 1, 0), 0);
	assert_lacks(read_with(s, in(s, "f"), &overlay), "opaque opaque");
}

static void test_special(void **state)
{
	const struct tree_read_options plain = {.newest_s = INT64_MAX};
	struct scratch *s = *state;

	needs_root();
	assert_int_equal(mkdir(in(s, "f"), 0755), 0);
	assert_int_equal(mkfifo(in(s, "f/a"), 0600), 0);
	assert_int_equal(mknod(in(s, "f/b"), S_IFCHR | 0600, makedev(1, 3)), 0);
	assert_int_equal(mknod(in(s, "f/c"), S_IFBLK | 0600, makedev(300, 70000)), 0);
	assert_int_equal(mknod(in(s, "f/d"), S_IFCHR, makedev(0, 0)), 0);
	assert_int_equal(chown(in(s, "f/a"), 70000, 4000000000U), 0);
	assert_string_equal(read_with(s, in(s, "f"), &plain), "d 0755 0:0 .\n"
							      "p 0600 70000:4000000000 a\n"
							      "c 0600 0:0 b 1,3\n"
							      "b 0600 0:0 c 300,70000\n"
							      "c 0000 0:0 d 0,0\n");
	assert_has(describe_folder(s, in(s, "f")), "w 0000 0:0 d\n");
}

static void test_too_deep(void **state)
{
	const struct tree_read_options plain = {.newest_s = INT64_MAX};
	struct scratch *s = *state;
	struct error err = {0};
	struct tree tree;
	char *path = arena_strdup(&s->arena, in(s, "f"));

	for (int i = 0; i < TREE_DEPTH_MAX + 1; i++)
		path = arena_printf(&s->arena, "%s/d", path);
	assert_fine(folder_make(path, 0755, &err));
	tree_init(&tree);
	assert_fails(tree_read(&tree, in(s, "f"), &plain, &err), ERROR_FAILED, "256 folders deep");
	tree_release(&tree);
	tree_init(&tree);
	assert_fails(tree_read(&tree, in(s, "nothing"), &plain, &err), ERROR_FAILED, "nothing");
	tree_release(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_order),   SCRATCH_TEST(test_sort_and_find),
		SCRATCH_TEST(test_read),    SCRATCH_TEST(test_no_special),
		SCRATCH_TEST(test_times),   SCRATCH_TEST(test_attributes),
		SCRATCH_TEST(test_special), SCRATCH_TEST(test_too_deep),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
