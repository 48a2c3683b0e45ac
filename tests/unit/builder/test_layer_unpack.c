/* SPDX-License-Identifier: MIT */
/* Hand-made tar files onto a disk: removals, what is damaged, and what wants to get out. */
#include "tests/unit/builder/layer_support.h"

#include <zstd.h>

static const char *unpack(struct scratch *s, const char *tar)
{
	struct error err = {0};

	assert_fine(layer_unpack(tar, in(s, "out"), NULL, NULL, &err));
	assert_int_equal(chmod(in(s, "out"), 0755), 0);
	return describe_folder(s, in(s, "out"));
}

static void test_removals(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");
	const char *path;

	needs_root();
	tar_folder(&tar, "./");
	tar_folder(&tar, "./a/");
	tar_file(&tar, "./a/.wh.gone", "");
	tar_file(&tar, "./a/.wh..wh.plnk", ""); /* aufs' own */
	tar_folder(&tar, "./b");
	tar_file(&tar, "./b/.wh..wh..opq", "");
	tar_file(&tar, "./b/new", "1");
	tar_file(&tar, "c/d/.wh.e", ""); /* its folders are not in the tar */
	tar_file(&tar, ".wh.top", "");
	path = tar_end(&tar);
	assert_lines(unpack(s, path), "d 0755 0:0 .\n"
				      "d 0755 0:0 a\n"
				      "w 0000 0:0 a/gone\n"
				      "d 0755 0:0 b opaque\n"
				      "- 0644 0:0 b/new 1\n"
				      "d 0755 0:0 c\n"
				      "d 0755 0:0 c/d\n"
				      "w 0000 0:0 c/d/e\n"
				      "w 0000 0:0 top\n");
	assert_lines(describe_tar(s, path), "d 0755 0:0 .\n"
					    "d 0755 0:0 a\n"
					    "w 0000 0:0 a/gone\n"
					    "d 0755 0:0 b opaque\n"
					    "- 0644 0:0 b/new 1\n"
					    "w 0000 0:0 c/d/e\n"
					    "w 0000 0:0 top\n");
}

/* A removal is about the layers below: what the same layer has there stays, in any order. */
static void test_removed_and_made(void **state)
{
	static const char expected[] = "d 0755 0:0 a opaque\n"
				       "- 0644 0:0 a/x 1\n"
				       "d 0700 0:0 b opaque\n"
				       "- 0644 0:0 b/y 1\n"
				       "- 0644 0:0 c 1\n"
				       "d 0755 0:0 d opaque\n"
				       "- 0644 0:0 e 1\n"
				       "l 0777 0:0 f -> c\n";
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");
	const char *path;

	needs_root();
	tar_folder(&tar, "a");
	tar_file(&tar, "a/x", "1");
	tar_file(&tar, ".wh.a", "");
	tar_file(&tar, "b/.wh..wh..opq", ""); /* before its folder */
	tar_put(&tar, tar_entry("b", AE_IFDIR, 0700), NULL);
	tar_file(&tar, "b/y", "1");
	tar_file(&tar, "c", "1");
	tar_file(&tar, ".wh.c", "");
	tar_file(&tar, ".wh.d", "");
	tar_folder(&tar, "d");
	tar_file(&tar, ".wh.e", "");
	tar_file(&tar, "e", "1");
	tar_file(&tar, ".wh.f", "");
	tar_symlink(&tar, "f", "c");
	path = tar_end(&tar);
	assert_lines(unpack(s, path), arena_printf(&s->arena, "d 0755 0:0 .\n%s", expected));
	assert_lines(describe_tar(s, path), expected);
}

/* A folder that only names imply, over its whiteout: the layers below have nothing in it. */
static void test_implied_over_removed(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");

	needs_root();
	tar_file(&tar, ".wh.d", "");
	tar_file(&tar, "d/e/x", "1");
	tar_file(&tar, ".wh.f", "");
	tar_file(&tar, "f/.wh..wh..opq", "");
	tar_file(&tar, ".wh.g", "");
	tar_file(&tar, "g/.wh.h", "");
	assert_lines(unpack(s, tar_end(&tar)), "d 0755 0:0 .\n"
					       "d 0755 0:0 d opaque\n"
					       "d 0755 0:0 d/e\n"
					       "- 0644 0:0 d/e/x 1\n"
					       "d 0755 0:0 f opaque\n"
					       "d 0755 0:0 g opaque\n"
					       "w 0000 0:0 g/h\n");
}

static void test_later_entry_wins(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");

	needs_root();
	tar_file(&tar, "a", "first");
	tar_file(&tar, "b", "kept");
	tar_hardlink(&tar, "c", "b");
	tar_file(&tar, "c", "other"); /* not through the link */
	tar_symlink(&tar, "d", "b");
	tar_file(&tar, "d", "xx");
	tar_put(&tar, tar_entry("e", AE_IFDIR, 0700), NULL);
	tar_file(&tar, "e/x", "");
	tar_folder(&tar, "e");
	tar_file(&tar, "a", "2");
	assert_lines(unpack(s, tar_end(&tar)), "d 0755 0:0 .\n"
					       "- 0644 0:0 a 1\n"
					       "- 0644 0:0 b 4\n"
					       "- 0644 0:0 c 5\n"
					       "- 0644 0:0 d 2\n"
					       "d 0755 0:0 e\n"
					       "- 0644 0:0 e/x 0\n");
	assert_string_equal(slurp(s, in(s, "out/b")), "kept");
}

/* An overlay's own attributes in a tar would make more of a folder than the layer says. */
static void test_overlay_attributes(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");
	struct archive_entry *entry = tar_entry("a", AE_IFDIR, 0755);
	const char *path;

	needs_root();
	archive_entry_xattr_add_entry(entry, "trusted.overlay.opaque", "y", 1);
	archive_entry_xattr_add_entry(entry, "user.kept", "k", 1);
	archive_entry_xattr_add_entry(entry, "trusted.overlay.redirect", "/b", 2);
	archive_entry_xattr_add_entry(entry, "user.overlay.opaque", "y", 1);
	tar_put(&tar, entry, NULL);
	path = tar_end(&tar);
	assert_lines(unpack(s, path), "d 0755 0:0 .\nd 0755 0:0 a user.kept=k\n");
	assert_int_equal(lgetxattr(in(s, "out/a"), "trusted.overlay.redirect", NULL, 0), -1);
}

/* --- damage --------------------------------------------------------------------------------- */

static void refused(struct scratch *s, const char *tar, const char *diff_id, const char *why)
{
	struct error err;

	assert_fails(layer_unpack(tar, in(s, "out"), diff_id, NULL, &err), ERROR_FAILED, why);
	assert_false(file_exists(in(s, "out")));
}

static const char *make_big(struct scratch *s, const char *name)
{
	struct made_tar tar = tar_make(s, name);
	char *text = arena_alloc(&s->arena, 200001);

	for (size_t i = 0; i < 200000; i++)
		text[i] = (char)('a' + (i * i + i / 7) % 26);
	tar_folder(&tar, "a");
	tar_file(&tar, "a/1", text);
	tar_file(&tar, "a/2", text);
	return tar_end(&tar);
}

static void test_damaged(void **state)
{
	struct scratch *s = *state;
	const char *tar = make_big(s, "t.tar"), *gz = in(s, "t.tar.gz");
	char diff_id[DIGEST_TEXT_BYTES], wrong[DIGEST_TEXT_BYTES];
	struct error err = {0};

	assert_fine(digest_of_file(tar, diff_id, &err));
	digest_of("x", 1, wrong);
	assert_fine(proc_check(WORDS("gzip", "-k", tar), &err));
	assert_fine(proc_check(WORDS("cp", gz, in(s, "good.gz")), &err));
	assert_fine(layer_unpack(gz, in(s, "out"), diff_id, NULL, &err));
	assert_fine(folder_remove(in(s, "out"), &err));
	refused(s, gz, wrong, "is damaged: its plain bytes have the digest sha256:");
	refused(s, tar, wrong, "is damaged: its plain bytes have the digest sha256:");
	for (int bytes = 80000; bytes > 0; bytes = bytes * 3 / 5 - 1) {
		assert_int_equal(truncate(gz, bytes), 0);
		refused(s, gz, bytes % 2 ? diff_id : NULL, "t.tar.gz");
	}
	/* one byte of its content is another one */
	assert_fine(proc_check(WORDS("cp", in(s, "good.gz"), gz), &err));
	assert_fine(proc_check(
		WORDS("sh", "-c",
		      "printf '\\125' | dd of=\"$0\" bs=1 seek=30000 conv=notrunc status=none", gz),
		&err));
	refused(s, gz, diff_id, "t.tar.gz");
	assert_int_equal(truncate(tar, 300000), 0);
	refused(s, tar, NULL, "t.tar: ");
	put(s, "t.tar", "this is no tar file at all, and not one that is compressed");
	refused(s, tar, NULL, "no tar file");
	put(s, "t.tar", "\x1f\x8b this is no gzip");
	refused(s, tar, NULL, "t.tar: ");
	refused(s, in(s, "missing"), NULL, "missing");
}

static void pack_zstd(struct scratch *s, const char *tar, const char *packed)
{
	struct error err = {0};
	size_t length, room;
	char *bytes, *out;

	assert_fine(file_read(tar, 4 * MIB, &s->arena, &bytes, &length, &err));
	room = ZSTD_compressBound(length);
	out = arena_alloc(&s->arena, room);
	length = ZSTD_compress(out, room, bytes, length, 1);
	assert_false(ZSTD_isError(length));
	assert_fine(file_write(packed, out, length, 0644, &err));
}

/* The digest is that of the plain bytes, however they are packed. */
static void test_zstd_is_checked(void **state)
{
	struct scratch *s = *state;
	const char *tar = make_big(s, "t.tar"), *packed = in(s, "t.packed");
	char diff_id[DIGEST_TEXT_BYTES], wrong[DIGEST_TEXT_BYTES];
	struct error err = {0};

	assert_fine(digest_of_file(tar, diff_id, &err));
	digest_of("x", 1, wrong);
	pack_zstd(s, tar, packed);
	assert_fine(layer_unpack(packed, in(s, "out"), diff_id, NULL, &err));
	assert_fine(folder_remove(in(s, "out"), &err));
	refused(s, packed, wrong, "is damaged: its plain bytes have the digest sha256:");
}

/* --- escapes -------------------------------------------------------------------------------- */

/* What lies beside the folder, and must be as it was. */
static void check_outside(struct scratch *s)
{
	assert_lines(describe_folder(s, in(s, "outside")), "d 0755 0:0 .\n"
							   "d 0755 0:0 folder\n"
							   "- 0644 0:0 secret 6\n");
	assert_string_equal(slurp(s, in(s, "outside/secret")), "secret");
	assert_false(file_exists(in(s, "x")));
}

static struct made_tar begin_escape(struct scratch *s)
{
	struct error err = {0};

	assert_fine(folder_make(in(s, "outside/folder"), 0755, &err));
	put(s, "outside/secret", "secret");
	return tar_make(s, "t.tar");
}

static void escape_refused(struct scratch *s, struct made_tar *tar, const char *why)
{
	refused(s, tar_end(tar), NULL, why);
	check_outside(s);
}

static void test_names_that_leave(void **state)
{
	static const char *const names[] = {"../x",	      "a/../../x", "..",
					    "a/..",	      "./../x",	   "/../x",
					    "../.wh.outside", "a/../.wh.x"};
	struct scratch *s = *state;

	needs_root();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct made_tar tar = begin_escape(s);

		tar_folder(&tar, "a");
		tar_file(&tar, names[i], "bad");
		escape_refused(s, &tar, "leads out of the layer");
	}
}

static void test_absolute_names(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = begin_escape(s);

	needs_root();
	/* from the layer's root, as Docker takes them */
	tar_file(&tar, arena_printf(&s->arena, "%s/outside/secret", s->folder), "bad");
	tar_file(&tar, "//b", "b");
	tar_hardlink(&tar, "c", "/b");
	unpack(s, tar_end(&tar));
	check_outside(s);
	assert_string_equal(
		slurp(s, in(s, arena_printf(&s->arena, "out%s/outside/secret", s->folder))), "bad");
	assert_string_equal(slurp(s, in(s, "out/c")), "b");
}

static void test_hard_links_that_leave(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = begin_escape(s);

	needs_root();
	tar_hardlink(&tar, "a", "../outside/secret");
	escape_refused(s, &tar, "leads out of the layer");
	/* from the root of the layer: it is not there */
	tar = begin_escape(s);
	tar_hardlink(&tar, "a", arena_printf(&s->arena, "%s/outside/secret", s->folder));
	escape_refused(s, &tar, "cannot unpack a");
	/* through a link of the layer's own */
	tar = begin_escape(s);
	tar_symlink(&tar, "l", in(s, "outside"));
	tar_hardlink(&tar, "a", "l/secret");
	tar_file(&tar, "a", "bad");
	escape_refused(s, &tar, "cannot unpack a");
}

static void test_planted_links(void **state)
{
	static const char *const names[] = {"l/x", "l/folder", "l/folder/x", "l/folder/new/x"};
	static const char *const marks[] = {
		"l/.wh.secret",	      "l/.wh.x",	"l/.wh.folder",
		"l/folder/.wh.x",     "l/.wh..wh..opq", "l/folder/.wh..wh..opq",
		"l/new/.wh..wh..opq", "l/new/.wh.x",	"../outside/.wh.x"};
	struct scratch *s = *state;

	needs_root();
	for (size_t i = 0; i < 2 * (ARRAY_LEN(names) + ARRAY_LEN(marks)); i++) {
		struct made_tar tar = begin_escape(s);
		const char *name =
			i / 2 < ARRAY_LEN(names) ? names[i / 2] : marks[i / 2 - ARRAY_LEN(names)];

		tar_symlink(&tar, "l", i % 2 ? "../outside" : in(s, "outside"));
		tar_file(&tar, name, "");
		escape_refused(s, &tar, "");
	}
	/* folders by their own entries, and in two steps */
	for (int i = 0; i < 2; i++) {
		struct made_tar tar = begin_escape(s);

		tar_symlink(&tar, "m", in(s, "outside"));
		tar_symlink(&tar, "l", i ? "m" : ".");
		tar_put(&tar, tar_entry(i ? "l/folder" : "l/m/folder", AE_IFDIR, 0777), NULL);
		escape_refused(s, &tar, "");
	}
}

/* What is listed is refused by the same names as what is unpacked. */
static void test_bad_names_are_not_listed(void **state)
{
	static const char *const names[] = {"../x", "a/../../x", ".wh.", "a/.wh..", ".wh..."};
	struct scratch *s = *state;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct made_tar tar = begin_escape(s);
		const char *path;
		struct tree tree;

		tar_file(&tar, names[i], "");
		path = tar_end(&tar);
		refused(s, path, NULL, i < 2 ? "leads out of the layer" : "names nothing");
		tree_init(&tree);
		assert_fails(layer_list(path, NULL, NULL, &tree, &err), ERROR_FAILED,
			     "t.tar: the ");
		tree_release(&tree);
	}
}

/* However deep, and whether a link, a file or a device stands in the way. */
static void test_behind_a_file(void **state)
{
	static const char *const names[] = {"f/x", "f/g/x", "f/g/.wh.x", "f/.wh..wh..opq",
					    "p/x", "l/x"};
	struct scratch *s = *state;

	needs_root();
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct made_tar tar = begin_escape(s);

		tar_file(&tar, "f", "");
		tar_put(&tar, tar_entry("p", AE_IFIFO, 0644), NULL);
		tar_symlink(&tar, "l", "f");
		tar_file(&tar, names[i], "");
		escape_refused(s, &tar, "lies behind a link or a file");
	}
}

/* Folders that only names imply have a mode of their own, whatever the umask is. */
static void test_umask(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");
	const char *text;

	needs_root();
	tar_file(&tar, "a/b/x", "");
	tar_file(&tar, ".wh.c", "");
	tar_file(&tar, "c/x", "");
	umask(077);
	text = unpack(s, tar_end(&tar));
	umask(022);
	assert_lines(text, "d 0755 0:0 .\n"
			   "d 0755 0:0 a\n"
			   "d 0755 0:0 a/b\n"
			   "- 0644 0:0 a/b/x 0\n"
			   "d 0755 0:0 c opaque\n"
			   "- 0644 0:0 c/x 0\n");
}

static void test_link_to_nothing(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = begin_escape(s);

	needs_root();
	tar_put(&tar, tar_entry("l", AE_IFLNK, 0777), NULL);
	escape_refused(s, &tar, "the link 'l' does not say where it leads");
}

/* The link itself may be replaced. */
static void test_link_replaced(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = begin_escape(s);

	needs_root();
	tar_symlink(&tar, "l", in(s, "outside/secret"));
	tar_file(&tar, "l", "new");
	tar_symlink(&tar, "m", in(s, "outside"));
	tar_put(&tar, tar_entry("m", AE_IFDIR, 0711), NULL);
	tar_symlink(&tar, "n", in(s, "outside/folder"));
	tar_file(&tar, ".wh.n", "");
	assert_lines(unpack(s, tar_end(&tar)),
		     arena_printf(&s->arena,
				  "d 0755 0:0 .\n- 0644 0:0 l 3\nd 0711 0:0 m\n"
				  "l 0777 0:0 n -> %s/outside/folder\n",
				  s->folder));
	check_outside(s);
}

static void test_too_long(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = begin_escape(s);
	char *name = arena_alloc(&s->arena, 3001);

	needs_root();
	memset(name, 'a', 3000);
	for (size_t i = 100; i < 3000; i += 100)
		name[i] = '/';
	tar_file(&tar, name, "x");
	escape_refused(s, &tar, "its name is too long");
}

/* A folder that is itself reached through a link is a fine place. */
static void test_folder_behind_link(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "t.tar");
	struct error err = {0};

	assert_int_equal(mkdir(in(s, "real"), 0755), 0);
	assert_int_equal(symlink("real", in(s, "link")), 0);
	tar_file(&tar, "a/b", "1");
	assert_fine(layer_unpack(tar_end(&tar), in(s, "link/out"), NULL, NULL, &err));
	assert_string_equal(slurp(s, in(s, "real/out/a/b")), "1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_removals),
		SCRATCH_TEST(test_removed_and_made),
		SCRATCH_TEST(test_later_entry_wins),
		SCRATCH_TEST(test_overlay_attributes),
		SCRATCH_TEST(test_damaged),
		SCRATCH_TEST(test_names_that_leave),
		SCRATCH_TEST(test_absolute_names),
		SCRATCH_TEST(test_hard_links_that_leave),
		SCRATCH_TEST(test_planted_links),
		SCRATCH_TEST(test_link_replaced),
		SCRATCH_TEST(test_too_long),
		SCRATCH_TEST(test_folder_behind_link),
		SCRATCH_TEST(test_implied_over_removed),
		SCRATCH_TEST(test_zstd_is_checked),
		SCRATCH_TEST(test_bad_names_are_not_listed),
		SCRATCH_TEST(test_link_to_nothing),
		SCRATCH_TEST(test_behind_a_file),
		SCRATCH_TEST(test_umask),
	};

	umask(022);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
