/* SPDX-License-Identifier: MIT */
/* Layers one above another as a tree of files: what replaces, removes, leads out, breaks off. */
#include "tests/unit/builder/layer_support.h"

#include "oci/rootfs.h"

#include <dirent.h>
#include <grp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* Unpacks these layers into "root". */
static int unpack(struct scratch *s, const char *const *layers, const char *diff_id,
		  struct error *err)
{
	_cleanup_(rootfs_close) struct rootfs *rootfs = NULL;

	*err = (struct error){0};
	if (rootfs_open(in(s, "root"), NULL, &rootfs, err) < 0)
		return -1;
	for (; *layers; layers++)
		if (rootfs_apply(rootfs, *layers, diff_id, NULL, err) < 0)
			return -1;
	return rootfs_finish(rootfs, err);
}

static const char *read_in(struct scratch *s, const char *path)
{
	struct error err = {0};
	char *text;

	assert_fine(file_read(in(s, arena_printf(&s->arena, "root/%s", path)), MIB, &s->arena,
			      &text, NULL, &err));
	return text;
}

static bool is_there(struct scratch *s, const char *path)
{
	struct stat st;

	return lstat(in(s, arena_printf(&s->arena, "root/%s", path)), &st) == 0;
}

static struct stat look(struct scratch *s, const char *path)
{
	struct stat st;

	if (lstat(in(s, arena_printf(&s->arena, "root/%s", path)), &st) < 0)
		fail_msg("%s is not there", path);
	return st;
}

/* Nothing but what was there before: no tree, and no half of one beside it. */
static void assert_no_trace(struct scratch *s)
{
	DIR *folder = opendir(s->folder);
	const struct dirent *entry;

	assert_non_null(folder);
	while ((entry = readdir(folder)))
		if (strncmp(entry->d_name, "root", 4) == 0)
			fail_msg("%s is left", entry->d_name);
	closedir(folder);
}

static void test_removals(void **state)
{
	struct scratch *s = *state;
	struct made_tar low = tar_make(s, "low.tar"), high = tar_make(s, "high.tar");
	const char *const layers[] = {low.path, high.path, NULL};
	struct error err;

	needs_root();
	tar_file(&low, "a/gone", "1");
	tar_file(&low, "a/stays", "2");
	tar_file(&low, "b/deep/er/gone", "3");
	tar_file(&low, "c/old/x", "4");
	tar_file(&low, "c/same", "low");
	tar_file(&low, "d/old", "5");
	tar_end(&low);
	tar_file(&high, "a/.wh.gone", "");
	tar_file(&high, "a/.wh.never", "");
	tar_file(&high, ".wh.b", "");
	/* what this layer has put there before its mark stays */
	tar_file(&high, "c/new", "high");
	tar_file(&high, "c/same", "high");
	tar_file(&high, "c/.wh..wh..opq", "");
	tar_file(&high, "d/new", "6");
	tar_file(&high, ".wh.d", "");
	tar_file(&high, "a/.wh..wh.plnk", "");
	tar_end(&high);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_false(is_there(s, "a/gone"));
	assert_string_equal(read_in(s, "a/stays"), "2");
	assert_false(is_there(s, "b"));
	assert_false(is_there(s, "c/old"));
	assert_string_equal(read_in(s, "c/new"), "high");
	assert_string_equal(read_in(s, "c/same"), "high");
	assert_false(is_there(s, "d/old"));
	assert_string_equal(read_in(s, "d/new"), "6");
	assert_false(is_there(s, "a/.wh.gone"));
	assert_false(is_there(s, "a/.wh..wh.plnk"));
}

static void test_replacements(void **state)
{
	struct scratch *s = *state;
	struct made_tar low = tar_make(s, "low.tar"), high = tar_make(s, "high.tar");
	const char *const layers[] = {low.path, high.path, NULL};
	struct error err;

	needs_root();
	tar_file(&low, "file", "a longer text");
	tar_file(&low, "folder/x", "x");
	tar_file(&low, "becomes_folder", "");
	tar_symlink(&low, "link", "folder");
	tar_file(&low, "kept/x", "x");
	tar_file(&low, "shared", "low");
	tar_hardlink(&low, "other", "shared");
	tar_end(&low);
	tar_file(&high, "file", "short");
	tar_file(&high, "folder", "a file now");
	tar_folder(&high, "becomes_folder");
	tar_file(&high, "becomes_folder/y", "y");
	tar_folder(&high, "link");
	tar_put(&high, tar_entry("kept", AE_IFDIR, 0711), NULL);
	/* the other name keeps its content */
	tar_file(&high, "shared", "high");
	tar_end(&high);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_string_equal(read_in(s, "file"), "short");
	assert_string_equal(read_in(s, "folder"), "a file now");
	assert_string_equal(read_in(s, "becomes_folder/y"), "y");
	assert_true(S_ISDIR(look(s, "link").st_mode));
	assert_string_equal(read_in(s, "kept/x"), "x");
	assert_int_equal(look(s, "kept").st_mode & 07777, 0711);
	assert_string_equal(read_in(s, "shared"), "high");
	assert_string_equal(read_in(s, "other"), "low");
}

/* A folder that is a link in a lower layer is followed, within the tree. */
static void test_behind_links(void **state)
{
	struct scratch *s = *state;
	struct made_tar low = tar_make(s, "low.tar"), high = tar_make(s, "high.tar");
	const char *const layers[] = {low.path, high.path, NULL};
	struct error err;

	needs_root();
	tar_folder(&low, "usr/lib");
	tar_symlink(&low, "lib", "usr/lib");
	tar_symlink(&low, "absolute", "/usr");
	tar_symlink(&low, "up", "../../../../usr");
	tar_end(&low);
	tar_file(&high, "lib/a", "a");
	tar_file(&high, "absolute/b", "b");
	tar_file(&high, "up/c", "c");
	tar_end(&high);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_string_equal(read_in(s, "usr/lib/a"), "a");
	assert_string_equal(read_in(s, "usr/b"), "b");
	assert_string_equal(read_in(s, "usr/c"), "c");
	assert_true(S_ISLNK(look(s, "lib").st_mode));
}

struct storm {
	const char *one, *other;
	atomic_bool stop;
};

static void *rename_on(void *arg)
{
	struct storm *storm = arg;

	while (!storm->stop)
		if (rename(storm->one, storm->other) < 0 || rename(storm->other, storm->one) < 0)
			return NULL;
	return storm;
}

/* While others rename, the kernel cannot say where ".." leads, and wants to be asked again. */
static void test_behind_links_in_a_storm(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	struct storm storm = {.one = in(s, "one"), .other = in(s, "other")};
	pthread_t thread;
	char far[1000];
	struct error err = {0};
	void *went_well;

	needs_root();
	tar_folder(&tar, "usr");
	for (int i = 0; i < 300; i++)
		snprintf(far + 3 * i, sizeof(far) - 3 * (size_t)i, "../usr");
	tar_symlink(&tar, "up", far);
	for (int i = 0; i < 1000; i++)
		tar_file(&tar, arena_printf(&s->arena, "up/%d/x", i), "");
	tar_end(&tar);
	put(s, "one", "");
	assert_int_equal(pthread_create(&thread, NULL, rename_on, &storm), 0);
	unpack(s, layers, NULL, &err);
	storm.stop = true;
	pthread_join(thread, &went_well);
	assert_non_null(went_well);
	if (err.kind != ERROR_NONE)
		fail_msg("%s", err.text);
	assert_true(is_there(s, "usr/999/x"));
}

static void test_metadata(void **state)
{
	static const char capability[] = "\x01\0\0\x02\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0";
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	struct archive_entry *entry = tar_entry("su", AE_IFREG, 04755);
	char value[64];
	struct error err;

	needs_root();
	archive_entry_set_uid(entry, 12);
	archive_entry_set_gid(entry, 34);
	archive_entry_xattr_add_entry(entry, "security.capability", capability, 20);
	archive_entry_xattr_add_entry(entry, "trusted.overlay.opaque", "y", 1);
	tar_put(&tar, entry, "text");
	entry = tar_entry("null", AE_IFCHR, 0666);
	archive_entry_set_rdev(entry, makedev(1, 3));
	tar_put(&tar, entry, NULL);
	tar_put(&tar, tar_entry("pipe", AE_IFIFO, 0600), NULL);
	entry = tar_entry("link", AE_IFLNK, 0777);
	archive_entry_set_uid(entry, 5);
	archive_entry_set_symlink(entry, "/nowhere/at/all");
	tar_put(&tar, entry, NULL);
	tar_put(&tar, tar_entry("sealed", AE_IFDIR, 0500), NULL);
	tar_file(&tar, "sealed/x", "x");
	tar_end(&tar);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_int_equal(look(s, "su").st_mode & 07777, 04755);
	assert_int_equal(look(s, "su").st_uid, 12);
	assert_int_equal(look(s, "su").st_gid, 34);
	assert_int_equal(look(s, "su").st_mtime, 1000);
	assert_int_equal(lgetxattr(in(s, "root/su"), "security.capability", value, 64), 20);
	assert_int_equal(lgetxattr(in(s, "root/su"), "trusted.overlay.opaque", value, 64), -1);
	assert_true(S_ISCHR(look(s, "null").st_mode) && look(s, "null").st_rdev == makedev(1, 3));
	assert_true(S_ISFIFO(look(s, "pipe").st_mode));
	assert_int_equal(look(s, "link").st_uid, 5);
	assert_int_equal(look(s, "link").st_mtime, 1000);
	/* set when what is in it is there */
	assert_int_equal(look(s, "sealed").st_mode & 07777, 0500);
	assert_int_equal(look(s, "sealed").st_mtime, 1000);
}

/* A folder that stands twice in a layer is as its later entry says. */
static void test_folder_again(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	struct archive_entry *entry = tar_entry("a", AE_IFDIR, 0700);
	struct error err;

	needs_root();
	archive_entry_set_mtime(entry, 5000, 0);
	tar_put(&tar, entry, NULL);
	tar_file(&tar, "a/x", "x");
	tar_folder(&tar, "a");
	tar_end(&tar);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_int_equal(look(s, "a").st_mode & 07777, 0755);
	assert_int_equal(look(s, "a").st_mtime, 1000);
	assert_string_equal(read_in(s, "a/x"), "x");
}

/* The tree itself is as its entry says, its owner too. */
static void test_top(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	struct archive_entry *entry = tar_entry("./", AE_IFDIR, 0750);
	struct error err;

	needs_root();
	archive_entry_set_uid(entry, 12);
	archive_entry_set_gid(entry, 34);
	tar_put(&tar, entry, NULL);
	tar_file(&tar, "./a", "");
	tar_end(&tar);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_int_equal(look(s, "").st_mode & 07777, 0750);
	assert_int_equal(look(s, "").st_uid, 12);
	assert_int_equal(look(s, "").st_gid, 34);
	assert_int_equal(look(s, "").st_mtime, 1000);
}

/* What lies in a folder does not inherit its default ACL: the layer says no such thing. */
static void test_default_acl(void **state)
{
	/* version 2; u::rwx u:7:rwx g::rwx m::rwx o::--- : linux/posix_acl_xattr.h */
	static const char acl[] = "\2\0\0\0"
				  "\1\0\7\0\377\377\377\377"
				  "\2\0\7\0\7\0\0\0"
				  "\4\0\7\0\377\377\377\377"
				  "\x10\0\7\0\377\377\377\377"
				  "\x20\0\0\0\377\377\377\377";
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	struct archive_entry *entry = tar_entry("a", AE_IFDIR, 0755);
	char value[64];
	struct error err;

	needs_root();
	archive_entry_xattr_add_entry(entry, "system.posix_acl_default", acl, sizeof(acl) - 1);
	tar_put(&tar, entry, NULL);
	tar_file(&tar, "a/x", "x");
	tar_end(&tar);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_int_equal(lgetxattr(in(s, "root/a"), "system.posix_acl_default", value, 64),
			 sizeof(acl) - 1);
	assert_int_equal(lgetxattr(in(s, "root/a/x"), "system.posix_acl_access", value, 64), -1);
	assert_int_equal(look(s, "a/x").st_mode & 07777, 0644);
}

/* Zeros take no room, whether the layer says that they are a hole or not. */
static void test_zeros(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	const size_t size = 3 * MIB + 77, at[] = {0, 70000, MIB, 3 * MIB - 1};
	char *bytes = arena_alloc(&s->arena, size), *got;
	struct archive_entry *entry = tar_entry("a", AE_IFREG, 0644);
	struct error err;
	size_t length;

	memset(bytes, 0, size);
	for (size_t i = 0; i < ARRAY_LEN(at); i++)
		bytes[at[i]] = 'x';
	archive_entry_set_size(entry, (la_int64_t)size);
	assert_int_equal(archive_write_header(tar.out, entry), ARCHIVE_OK);
	assert_int_equal(archive_write_data(tar.out, bytes, size), size);
	archive_entry_free(entry);
	tar_end(&tar);
	assert_fine(unpack(s, layers, NULL, &err));
	assert_fine(file_read(in(s, "root/a"), 4 * MIB, &s->arena, &got, &length, &err));
	assert_int_equal(length, size);
	assert_memory_equal(got, bytes, size);
	assert_in_range(look(s, "a").st_blocks * 512, 0, 512 * KIB);
}

/* Owners are the person's, devices are left out, and no bit lends the person's own rights. */
static void test_without_root(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	struct archive_entry *entry;
	struct error err;
	pid_t child;
	int status;

	needs_root();
	tar_put(&tar, tar_entry("su", AE_IFREG, 06755), "text");
	entry = tar_entry("mine", AE_IFREG, 06755);
	archive_entry_set_uid(entry, 65534);
	archive_entry_set_gid(entry, 65534);
	tar_put(&tar, entry, "text");
	tar_put(&tar, tar_entry("null", AE_IFCHR, 0666), NULL);
	tar_put(&tar, tar_entry("sealed", AE_IFDIR, 0500), NULL);
	tar_file(&tar, "sealed/x", "x");
	entry = tar_entry("read", AE_IFREG, 0444);
	archive_entry_xattr_add_entry(entry, "user.note", "1", 1);
	tar_put(&tar, entry, "text");
	tar_end(&tar);
	assert_int_equal(chmod(s->folder, 0777), 0);
	child = fork();
	if (child == 0) {
		if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 ||
		    setresuid(65534, 65534, 65534) < 0)
			_exit(2);
		_exit(unpack(s, layers, NULL, &err) < 0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_int_equal(look(s, "su").st_mode & 07777, 0755);
	assert_int_equal(look(s, "su").st_uid, 65534);
	assert_int_equal(look(s, "mine").st_mode & 07777, 06755);
	assert_false(is_there(s, "null"));
	assert_int_equal(look(s, "sealed").st_mode & 07777, 0700);
	assert_int_equal(look(s, "read").st_mode & 07777, 0444);
}

/* Whatever a layer tries, nothing outside of the tree changes. */
static void test_escapes(void **state)
{
	static const char *const names[] = {"../outside/x",
					    "a/../../outside/x",
					    "..",
					    "l/x",
					    "l/.wh.secret",
					    "l/.wh..wh..opq",
					    "../outside/.wh.secret",
					    ".wh...",
					    "l/../../outside/x"};
	struct scratch *s = *state;
	struct error err = {0};

	needs_root();
	for (size_t i = 0; i < 3 * ARRAY_LEN(names); i++) {
		const char *links[] = {"../outside", in(s, "outside"), "../../../../../../.."};
		struct made_tar tar = tar_make(s, "one.tar");
		const char *const layers[] = {tar.path, NULL};
		char *text;

		assert_fine(folder_remove(in(s, "root"), &err));
		assert_fine(folder_make(in(s, "outside"), 0755, &err));
		put(s, "outside/secret", "safe");
		tar_symlink(&tar, "l", links[i % 3]);
		tar_file(&tar, names[i / 3], "bad");
		tar_end(&tar);
		unpack(s, layers, NULL, &err);
		err = (struct error){0};
		assert_fine(file_read(in(s, "outside/secret"), 100, &s->arena, &text, NULL, &err));
		assert_string_equal(text, "safe");
		assert_false(file_exists(in(s, "outside/x")));
	}
}

static void test_refused(void **state)
{
	static const struct {
		const char *name, *hard, *says;
	} rows[] = {
		{"../x", NULL, "'../x' leads out of the layer"},
		{"a/../../x", NULL, "leads out of the layer"},
		{"x", "../outside/secret", "leads out of the layer"},
		{"x", "none", "cannot unpack x"},
		{"a/.wh...", NULL, "names nothing"},
		{"f/x", NULL, "cannot enter the folder of f/x"},
	};
	struct scratch *s = *state;
	struct error err;

	needs_root();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct made_tar tar = tar_make(s, "one.tar");
		const char *const layers[] = {tar.path, NULL};

		tar_file(&tar, "f", "a file");
		if (rows[i].hard)
			tar_hardlink(&tar, rows[i].name, rows[i].hard);
		else
			tar_file(&tar, rows[i].name, "");
		tar_end(&tar);
		assert_fails(unpack(s, layers, NULL, &err), ERROR_FAILED, rows[i].says);
		assert_no_trace(s);
	}
}

static void test_broken_off(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL}, *none[] = {in(s, "none.tar"), NULL};
	static const char *const algorithms[] = {"sha256:", "sha512:"};
	char digest[DIGEST_TEXT_BYTES];
	struct error err;

	tar_file(&tar, "a", "text");
	tar_end(&tar);
	for (size_t i = 0; i < ARRAY_LEN(algorithms); i++) {
		assert_fine(digest_of_file_as(tar.path, algorithms[i], digest, &err));
		assert_fine(unpack(s, layers, digest, &err));
		assert_fine(folder_remove(in(s, "root"), &err));
		digest[10] = digest[10] == '0' ? '1' : '0';
		assert_fails(unpack(s, layers, digest, &err), ERROR_FAILED,
			     "the image's config says");
		assert_no_trace(s);
	}
	assert_fails(unpack(s, none, NULL, &err), ERROR_FAILED, "none.tar");
	assert_no_trace(s);
	assert_int_equal(truncate(tar.path, 700), 0);
	assert_fails(unpack(s, layers, NULL, &err), ERROR_FAILED, "one.tar");
	assert_no_trace(s);
	put(s, "one.tar", "\x1f\x8b nonsense");
	assert_fails(unpack(s, layers, NULL, &err), ERROR_FAILED, "gzip");
	assert_no_trace(s);
}

static void test_place(void **state)
{
	struct scratch *s = *state;
	struct made_tar tar = tar_make(s, "one.tar");
	const char *const layers[] = {tar.path, NULL};
	char digest[DIGEST_TEXT_BYTES];
	struct error err = {0};

	tar_file(&tar, "a", "text");
	tar_end(&tar);
	assert_fine(digest_of_file(tar.path, digest, &err));
	assert_fine(folder_make(in(s, "root"), 0755, &err));
	assert_fine(unpack(s, layers, digest, &err));
	assert_string_equal(read_in(s, "a"), "text");
	assert_fails(unpack(s, layers, digest, &err), ERROR_USAGE, "is not empty");
	assert_string_equal(read_in(s, "a"), "text");
	put(s, "file", "");
	err = (struct error){0};
	struct rootfs *rootfs;

	assert_fails(rootfs_open(in(s, "file"), NULL, &rootfs, &err), ERROR_FAILED, "cannot use");
	assert_null(rootfs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_removals),	 SCRATCH_TEST(test_replacements),
		SCRATCH_TEST(test_behind_links), SCRATCH_TEST(test_behind_links_in_a_storm),
		SCRATCH_TEST(test_metadata),	 SCRATCH_TEST(test_escapes),
		SCRATCH_TEST(test_refused),	 SCRATCH_TEST(test_broken_off),
		SCRATCH_TEST(test_place),	 SCRATCH_TEST(test_folder_again),
		SCRATCH_TEST(test_top),		 SCRATCH_TEST(test_default_acl),
		SCRATCH_TEST(test_zeros),	 SCRATCH_TEST(test_without_root),
	};

	return cmocka_run_group_tests_name("rootfs", tests, NULL, NULL);
}
