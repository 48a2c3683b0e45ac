/* SPDX-License-Identifier: MIT */
/* Trees into layers: what is written, read back by Python's tarfile and by layer_unpack. */
#include "tests/unit/builder/layer_support.h"

#include "core/clock.h"

#define LATIN1 "latin1-\xe9"
#define UTF8 "utf8-\xc3\xa9\xe6\x97\xa5"
#define LONG_NAME                                                                     \
	"long-0123456789012345678901234567890123456789012345678901234567890123456789" \
	"012345678901234567890123456789012345678901234567890123456789012345678901234"
#define LONG_PATH LONG_NAME "/" LONG_NAME "/" LONG_NAME

static void set_time(const char *path, time_t seconds)
{
	const struct timespec times[2] = {{seconds, 5}, {seconds, 999999999}};

	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

/* A tree with one of everything, made in one of two orders. */
static const char *make_all(struct scratch *s, const char *root, bool backwards, time_t late)
{
	const char *folder = in(s, root);
	struct error err = {0};
	static const char capability[] = "\1\0\0\2\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0";

#define AT(name) arena_printf(&s->arena, "%s/%s", folder, name)
	for (int step = 0; step < 8; step++)
		switch (backwards ? 7 - step : step) {
		case 0:
			assert_fine(folder_make(AT("empty"), 0755, &err));
			assert_int_equal(chmod(AT("empty"), 01777), 0);
			break;
		case 1:
			put(s, arena_printf(&s->arena, "%s/bin/tool", root), "#!/bin/sh\n");
			assert_int_equal(chown(AT("bin/tool"), 70000, 4000000000U), 0);
			assert_int_equal(chmod(AT("bin/tool"), 06755), 0);
			break;
		case 2:
			put(s, arena_printf(&s->arena, "%s/" UTF8, root), "u");
			put(s, arena_printf(&s->arena, "%s/" LATIN1, root), "l");
			break;
		case 3:
			put(s, arena_printf(&s->arena, "%s/" LONG_PATH, root), "long");
			break;
		case 4:
			put(s, arena_printf(&s->arena, "%s/links/a", root), "linked");
			assert_int_equal(link(AT("links/a"), AT("links/b")), 0);
			assert_int_equal(symlink("../" LONG_PATH, AT("links/s")), 0);
			assert_int_equal(lchown(AT("links/s"), 5, 6), 0);
			break;
		case 5:
			assert_int_equal(mkfifo(AT("zz.fifo"), 0600), 0);
			assert_int_equal(mknod(AT("zz.null"), S_IFCHR | 0666, makedev(1, 3)), 0);
			assert_int_equal(mknod(AT("zz.sda"), S_IFBLK | 0660, makedev(8, 0)), 0);
			break;
		case 6:
			put(s, arena_printf(&s->arena, "%s/attributes", root), "");
			assert_int_equal(setxattr(AT("attributes"), "user.b", "2\n=\xff", 4, 0), 0);
			assert_int_equal(setxattr(AT("attributes"), "user.a", "1", 1, 0), 0);
			assert_int_equal(setxattr(AT("attributes"), "security.capability",
						  capability, 20, 0),
					 0);
			break;
		default:
			put(s, arena_printf(&s->arena, "%s/old", root), "old");
			set_time(AT("old"), 900);
		}
	assert_int_equal(chmod(folder, 0755), 0);
	set_time(AT("bin"), late);
	set_time(AT("bin/tool"), late + 7);
	set_time(AT("links/s"), late + 9);
#undef AT
	return folder;
}

static void write_folder(struct scratch *s, const char *folder, uint64_t bytes_max,
			 struct layer_parts *parts)
{
	const struct tree_read_options options = {.is_overlay = true, .newest_s = 1000};
	struct error err = {0};
	struct tree tree;

	tree_init(&tree);
	assert_fine(layout_init(in(s, "layout"), &err));
	assert_fine(tree_read(&tree, folder, &options, &err));
	assert_fine(layer_write(&tree, in(s, "layout"),
				&(struct layer_rule){.bytes_max = bytes_max}, NULL, parts, &err));
	tree_release(&tree);
}

/* What Python's tarfile finds in a blob. */
static const char *python_list(struct scratch *s, const char *blob)
{
	static const char script[] =
		"import sys, tarfile\n"
		"out = sys.stdout.buffer\n"
		"for m in tarfile.open(sys.argv[1], 'r:gz', encoding='utf-8',\n"
		"                      errors='surrogateescape'):\n"
		"    name = m.name.encode('utf-8', 'surrogateescape')\n"
		"    link = m.linkname.encode('utf-8', 'surrogateescape')\n"
		"    x = ['%s=%s' % (k[13:], v.encode('utf-8', 'surrogateescape').hex())\n"
		"         for k, v in sorted(m.pax_headers.items()) if 'SCHILY' in k]\n"
		"    kind = {b'0': '-', b'5': 'd', b'2': 'l', b'1': 'h', b'6': 'p', b'3': 'c',\n"
		"            b'4': 'b'}[m.type]\n"
		"    text = '%s %04o %d:%d %s %d ' % (kind, m.mode, m.uid, m.gid, m.mtime, m.size)\n"
		"    if m.uname or m.gname: text += 'NAMES '\n"
		"    if kind in 'cb': text += '%d,%d ' % (m.devmajor, m.devminor)\n"
		"    out.write(text.encode() + b' '.join([name, link] + [i.encode() for i in x])\n"
		"              + b'\\n')\n";
	const struct proc proc = {.words = WORDS("python3", "-c", script, blob)};
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error err = {0};

	assert_fine(proc_run(&proc, &result, &err));
	if (result.status)
		fail_msg("python3: %s", result.err.text);
	return arena_strdup(&s->arena, result.out.text);
}

static void test_all_kinds(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	struct error err = {0};
	const char *blob, *text;

	needs_root();
	write_folder(s, make_all(s, "f", false, 5000), 0, parts);
	assert_int_equal(parts->count, 1);
	blob = blob_path(s, in(s, "layout"), &parts->list[0]);
	text = python_list(s, blob);
	assert_lines(
		text,
		"- 0644 0:0 1000 0 attributes  security.capability=0100000200040000000000000000000000000000 user.a=31 user.b=320a3dff\n"
		"d 0755 0:0 1000 0 bin \n"
		"- 6755 70000:4000000000 1000 10 bin/tool \n"
		"d 1777 0:0 1000 0 empty \n"
		"- 0644 0:0 1000 1 " LATIN1 " \n"
		"d 0755 0:0 1000 0 links \n"
		"- 0644 0:0 1000 6 links/a \n"
		"h 0644 0:0 1000 0 links/b links/a\n"
		"l 0777 5:6 1000 0 links/s ../" LONG_PATH "\n"
		"d 0755 0:0 1000 0 " LONG_NAME " \n"
		"d 0755 0:0 1000 0 " LONG_NAME "/" LONG_NAME " \n"
		"- 0644 0:0 1000 4 " LONG_PATH " \n"
		"- 0644 0:0 900 3 old \n"
		"- 0644 0:0 1000 1 " UTF8 " \n"
		"p 0600 0:0 1000 0 zz.fifo \n"
		"c 0644 0:0 1000 0 1,3 zz.null \n"
		"b 0640 0:0 1000 0 8,0 zz.sda \n");
	/* and back onto a disk */
	assert_fine(layer_unpack(blob, in(s, "back"), parts->list[0].diff_id, NULL, &err));
	assert_lines(describe_folder(s, in(s, "back")), describe_folder(s, in(s, "f")));
	assert_string_equal(slurp(s, in(s, "back/" LONG_PATH)), "long");
	assert_string_equal(slurp(s, in(s, "back/links/b")), "linked");
}

/* The same names and kinds come from the list as from the disk. */
static void test_list(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	struct error err = {0};
	struct tree disk, list;
	const char *blob;

	needs_root();
	tree_init(&disk);
	tree_init(&list);
	write_folder(s, make_all(s, "f", false, 5000), 0, parts);
	blob = blob_path(s, in(s, "layout"), &parts->list[0]);
	assert_fine(layer_list(blob, NULL, NULL, &list, &err));
	assert_fine(
		tree_read(&disk, in(s, "f"), &(struct tree_read_options){.newest_s = 1000}, &err));
	assert_int_equal(list.count, disk.count - 1); /* without the root */
	for (size_t i = 0; i < list.count; i++) {
		const struct tree_entry *a = &list.list[i], *b = &disk.list[i + 1];

		assert_string_equal(a->path, b->path);
		assert_int_equal(a->type, b->type);
		assert_int_equal(a->mode, b->mode);
		assert_int_equal(a->uid, b->uid);
		assert_int_equal(a->gid, b->gid);
		assert_int_equal(a->mtime_s, b->mtime_s);
		assert_int_equal(a->device, b->device);
		assert_string_equal(a->link ? a->link : "", b->link ? b->link : "");
	}
	tree_release(&disk);
	tree_release(&list);
}

static void test_same_digest(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *one = ARENA_NEW(&s->arena, struct layer_parts);
	struct layer_parts *two = ARENA_NEW(&s->arena, struct layer_parts);
	struct error err = {0};

	needs_root();
	write_folder(s, make_all(s, "f", false, 5000), 0, one);
	make_all(s, "elsewhere/g", true, 70000);
	umask(077);
	write_folder(s, in(s, "elsewhere/g"), 0, two);
	assert_string_equal(one->list[0].diff_id, two->list[0].diff_id);
	assert_string_equal(one->list[0].blob.digest, two->list[0].blob.digest);
	assert_fine(layer_unpack(blob_path(s, in(s, "layout"), &two->list[0]), in(s, "back"), NULL,
				 NULL, &err));
	umask(022);
	assert_int_equal(chmod(in(s, "back"), 0755), 0); /* the layer does not speak of it */
	assert_lines(describe_folder(s, in(s, "back")), describe_folder(s, in(s, "f")));
	/* written again from what was unpacked */
	write_folder(s, in(s, "back"), 0, two);
	assert_string_equal(one->list[0].blob.digest, two->list[0].blob.digest);
}

/* One entry a line, as "PART: ENTRY". */
static const char *list_parts(struct scratch *s, const struct layer_parts *parts)
{
	struct str out = STR_INIT;
	const char *text;

	for (size_t i = 0; i < parts->count; i++) {
		const char *one = python_list(s, blob_path(s, in(s, "layout"), &parts->list[i]));

		for (; *one; one += strcspn(one, "\n") + 1)
			str_addf(&out, "%zu: %.*s\n", i, (int)strcspn(one, "\n"), one);
	}
	text = arena_strdup(&s->arena, out.text);
	str_release(&out);
	return text;
}

/* All parts in their order, each in a folder of its own or all in one. */
static void unpack_parts(struct scratch *s, const struct layer_parts *parts, const char *folder)
{
	struct error err = {0};

	for (size_t i = 0; i < parts->count; i++)
		assert_fine(layer_unpack(blob_path(s, in(s, "layout"), &parts->list[i]), folder,
					 parts->list[i].diff_id, NULL, &err));
	assert_int_equal(chmod(folder, 0755), 0);
}

static const char *zeros(struct scratch *s, size_t count)
{
	char *text = arena_alloc(&s->arena, count + 1);

	memset(text, 'x', count);
	return text;
}

static void test_split(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);

	needs_root();
	put(s, "f/a/1", zeros(s, 3000));
	put(s, "f/a/2", zeros(s, 3000));
	put(s, "f/b/c/3", zeros(s, 9000)); /* alone more than a part may hold */
	put(s, "f/b/c/4", "");
	assert_int_equal(link(in(s, "f/a/1"), in(s, "f/b/c/one")), 0);
	assert_int_equal(link(in(s, "f/a/1"), in(s, "f/z")), 0);
	set_time(in(s, "f/b"), 2000);
	write_folder(s, in(s, "f"), 6000, parts);
	assert_lines(list_parts(s, parts), "0: d 0755 0:0 1000 0 a \n"
					   "0: - 0644 0:0 1000 3000 a/1 \n"
					   "0: d 0755 0:0 1000 0 b \n"
					   "0: d 0755 0:0 1000 0 b/c \n"
					   "0: h 0644 0:0 1000 0 b/c/one a/1\n"
					   "0: h 0644 0:0 1000 0 z a/1\n"
					   "1: d 0755 0:0 1000 0 a \n"
					   "1: - 0644 0:0 1000 3000 a/2 \n"
					   "2: d 0755 0:0 1000 0 b \n"
					   "2: d 0755 0:0 1000 0 b/c \n"
					   "2: - 0644 0:0 1000 9000 b/c/3 \n"
					   "3: d 0755 0:0 1000 0 b \n"
					   "3: d 0755 0:0 1000 0 b/c \n"
					   "3: - 0644 0:0 1000 0 b/c/4 \n");
	unpack_parts(s, parts, in(s, "back"));
	assert_lines(describe_folder(s, in(s, "back")), describe_folder(s, in(s, "f")));
}

/* An opaque folder's mark goes where the folder first stands: later it would hide a hard link. */
static void test_split_opaque(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	const char *text;

	needs_root();
	put(s, "f/a", zeros(s, 5000));
	put(s, "f/b/c/own", zeros(s, 3000));
	assert_int_equal(link(in(s, "f/a"), in(s, "f/b/c/linked")), 0);
	assert_int_equal(setxattr(in(s, "f/b"), "trusted.overlay.opaque", "y", 1, 0), 0);
	assert_int_equal(mknod(in(s, "f/d"), S_IFCHR, makedev(0, 0)), 0);
	write_folder(s, in(s, "f"), 5700, parts);
	assert_int_equal(parts->count, 2);
	text = list_parts(s, parts);
	assert_has(text, "0: - 0000 0:0 0 0 b/.wh..wh..opq \n");
	assert_lacks(text, "1: - 0000 0:0 0 0 b/.wh..wh..opq \n");
	assert_has(text, "0: h 0644 0:0 1000 0 b/c/linked a\n");
	assert_has(text, "1: - 0000 0:0 0 0 .wh.d \n");
	unpack_parts(s, parts, in(s, "back"));
	assert_lines(describe_folder(s, in(s, "back")), describe_folder(s, in(s, "f")));
}

/* The layer cannot be written, and no blob stays. */
static void leaves_nothing(struct scratch *s, const struct tree *tree, const char *why)
{
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	struct error err;
	const char **names;

	leaks_of_libarchive(true);
	assert_fails(layer_write(tree, in(s, "layout"), NULL, NULL, parts, &err), ERROR_FAILED,
		     why);
	leaks_of_libarchive(false);
	if (file_exists(in(s, "layout/blobs/sha256"))) {
		assert_fine(folder_list(in(s, "layout/blobs/sha256"), "", &s->arena, &names, &err));
		assert_null(names[0]);
	}
}

static void test_nothing(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	struct error err = {0};
	struct tree tree;

	assert_int_equal(mkdir(in(s, "f"), 0755), 0);
	write_folder(s, in(s, "f"), 0, parts);
	assert_int_equal(parts->count, 0);
	/* such a name would be a removal */
	tree_init(&tree);
	tree_add(&tree, TREE_FILE, "a/.wh.b")->text = "";
	assert_fails(layer_write(&tree, in(s, "layout"), NULL, NULL, parts, &err), ERROR_USAGE,
		     "a/.wh.b: names that begin with '.wh.'");
	tree_release(&tree);
	/* a file that is gone meanwhile leaves no blob */
	tree_init(&tree);
	tree_add(&tree, TREE_FILE, "a")->source = in(s, "gone");
	leaves_nothing(s, &tree, "gone");
	tree_release(&tree);
	/* one that became shorter */
	tree_init(&tree);
	*tree_add(&tree, TREE_FILE, "") = (struct tree_entry){
		.path = "a", .type = TREE_FILE, .source = put(s, "short", "x"), .size_bytes = 2};
	leaves_nothing(s, &tree, "became shorter");
	tree_release(&tree);
}

/* --- holes ---------------------------------------------------------------------------------- */

static uint64_t blocks_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (uint64_t)st.st_blocks * 512;
}

static void put_at(const char *path, uint64_t offset, const char *text)
{
	_cleanup_(fd_close) int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

	assert_int_equal(pwrite(fd, text, strlen(text), (off_t)offset), strlen(text));
}

static void check_at(const char *path, uint64_t offset, const char *text)
{
	_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);
	char got[64];

	assert_int_equal(pread(fd, got, strlen(text), (off_t)offset), strlen(text));
	assert_memory_equal(got, text, strlen(text));
}

/* There and back: the same, and small. */
static void check_sparse(struct scratch *s, uint64_t size, const uint64_t *data, size_t count)
{
	struct layer_parts *parts = ARENA_NEW(&s->arena, struct layer_parts);
	const char *file = in(s, "f/sparse"), *back = in(s, "back/sparse");
	struct error err = {0};
	uint64_t start = clock_usec();
	struct stat st;

	put(s, "f/sparse", "");
	assert_int_equal(truncate(file, (off_t)size), 0);
	for (size_t i = 0; i < count; i++)
		put_at(file, data[i], "data");
	write_folder(s, in(s, "f"), 0, parts);
	assert_in_range(parts->list[0].blob.size_bytes, 1, 200000);
	assert_fine(layer_unpack(blob_path(s, in(s, "layout"), &parts->list[0]), in(s, "back"),
				 parts->list[0].diff_id, NULL, &err));
	assert_int_equal(stat(back, &st), 0);
	assert_int_equal(st.st_size, size);
	assert_in_range(blocks_of(back), 0, (count + 1) * 2 * MIB);
	for (size_t i = 0; i < count; i++)
		check_at(back, data[i], "data");
	for (size_t i = 0; i + 1 < count; i++)
		check_at(back, data[i] + 4, "\0");
	assert_in_range(clock_seconds_since(start), 0, 30);
	assert_fine(folder_remove(in(s, "f"), &err));
	assert_fine(folder_remove(in(s, "back"), &err));
}

static void test_sparse(void **state)
{
	static const uint64_t begin[] = {0}, end[] = {3 * GIB - 4}, middle[] = {7, MIB + 5, GIB};
	static const uint64_t over[] = {8 * GIB + 100, 8 * GIB + 77 * MIB};
	struct scratch *s = *state;

	check_sparse(s, 3 * GIB, begin, 1);
	check_sparse(s, 3 * GIB, end, 1);
	check_sparse(s, 3 * GIB - 1, middle, 3);
	check_sparse(s, 2 * MIB, NULL, 0); /* nothing but a hole */
	check_sparse(s, 8 * GIB + 100 * MIB, over, 2);
}

/* Zeros are holes in the layer, whether the file system has them so or not. */
static void test_zeros(void **state)
{
	struct scratch *s = *state;
	struct layer_parts *holes = ARENA_NEW(&s->arena, struct layer_parts);
	struct layer_parts *blocks = ARENA_NEW(&s->arena, struct layer_parts);
	static char zero[4 * MIB];
	struct error err = {0};

	put(s, "f/x", "");
	assert_int_equal(truncate(in(s, "f/x"), 4 * MIB), 0);
	put_at(in(s, "f/x"), 2 * MIB + 4096, "x");
	assert_int_equal(chmod(in(s, "f/x"), 0644), 0);
	write_folder(s, in(s, "f"), 0, holes);
	assert_fine(file_write(in(s, "f/x"), zero, 4 * MIB, 0644, &err));
	put_at(in(s, "f/x"), 2 * MIB + 4096, "x");
	assert_true(blocks_of(in(s, "f/x")) >= 4 * MIB);
	write_folder(s, in(s, "f"), 0, blocks);
	assert_string_equal(holes->list[0].diff_id, blocks->list[0].diff_id);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_all_kinds),	 SCRATCH_TEST(test_list),
		SCRATCH_TEST(test_same_digest),	 SCRATCH_TEST(test_split),
		SCRATCH_TEST(test_split_opaque), SCRATCH_TEST(test_nothing),
		SCRATCH_TEST(test_sparse),	 SCRATCH_TEST(test_zeros),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
