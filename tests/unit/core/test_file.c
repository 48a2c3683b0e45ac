/* SPDX-License-Identifier: MIT */
/* Whole files, folders, locks and paths. */
#include "tests/unit/support.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void test_write_and_read(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char *path = in(s, "f");
	size_t length = 0;
	char *text;

	assert_fine(file_write(path, "a\0b", 3, 0600, &err));
	assert_fine(file_read(path, 3, &s->arena, &text, &length, &err));
	assert_int_equal(length, 3);
	assert_memory_equal(text, "a\0b", 4);
	assert_fails(file_read(path, 2, &s->arena, &text, &length, &err), ERROR_FAILED, path);
	assert_has(err.text, "larger than 2 bytes");
	assert_fails(file_read(in(s, "none"), 2, &s->arena, &text, NULL, &err), ERROR_FAILED,
		     in(s, "none"));
	assert_fails(file_read(s->folder, 2, &s->arena, &text, NULL, &err), ERROR_FAILED,
		     s->folder);
}

/* Into the caller's memory, from where the descriptor stands; a pipe gives it in pieces. */
static void test_fill(void **state)
{
	struct scratch *s = *state;
	int fd = open(put(s, "f", "0123456789"), O_RDONLY), ends[2];
	char bytes[8] = {0};

	assert_int_equal(file_fill(fd, bytes, 4), 4);
	assert_string_equal(bytes, "0123");
	assert_int_equal(file_fill(fd, bytes, 7), 6);
	assert_memory_equal(bytes, "456789", 6);
	assert_int_equal(file_fill(fd, bytes, 7), 0);
	close(fd);
	assert_int_equal(file_fill(fd, bytes, 7), -1);
	assert_int_equal(pipe(ends), 0);
	if (fork() == 0) {
		for (int i = 0; i < 3; i++) {
			usleep(1000);
			assert_int_equal(write(ends[1], "ab", 2), 2);
		}
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(file_fill(ends[0], bytes, 5), 5);
	assert_memory_equal(bytes, "ababa", 5);
	close(ends[0]);
	wait(NULL);
}

static void test_mode_whatever_the_umask(void **state)
{
	struct scratch *s = *state;
	static const mode_t masks[] = {0, 022, 077, 0777}, modes[] = {0600, 0644, 0755, 0400};
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		for (size_t j = 0; j < ARRAY_LEN(modes); j++) {
			mode_t old = umask(masks[i]);
			int rc = file_write(in(s, "f"), "x", 1, modes[j], &err);

			umask(old);
			assert_fine(rc);
			assert_int_equal(mode_of(in(s, "f")), modes[j]);
		}
	}
}

/* Who reads while we write sees the old content or the new, and nothing else is left behind. */
static void test_write_is_atomic(void **state)
{
	struct scratch *s = *state;
	const char *path = put(s, "sub/f", "old"), **names;
	struct error err = {0};
	struct stat before, after;
	char kept[8] = {0};
	FILE *open_before = fopen(path, "re");

	assert_non_null(open_before);
	assert_int_equal(stat(path, &before), 0);
	assert_fine(file_write(path, "new!", 4, 0644, &err));
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino != after.st_ino);
	assert_int_equal(fread(kept, 1, sizeof(kept) - 1, open_before), 3);
	fclose(open_before);
	assert_string_equal(kept, "old");
	assert_string_equal(slurp(s, path), "new!");
	assert_fine(folder_list(in(s, "sub"), "", &s->arena, &names, &err));
	assert_string_equal(names[0], "f");
	assert_null(names[1]);
}

/* The target is a folder: the write fails, and the temporary file goes away. */
/* A device is never replaced: as root that would be /dev/null itself. */
static void test_write_to_what_is_no_file(void **state)
{
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/null", s->folder);
	struct error err = {0};
	struct stat st;

	assert_false(file_is_stream(path));
	assert_false(file_is_stream(s->folder));
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_true(file_is_stream(path));
	assert_int_equal(file_write(path, "text", 4, 0644, &err), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_true(file_is_stream(path));
}

static void test_failed_write_leaves_nothing(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char **names;

	assert_fine(folder_make(in(s, "sub/target/full"), 0755, &err));
	assert_fails(file_write(in(s, "sub/target"), "x", 1, 0644, &err), ERROR_FAILED,
		     in(s, "sub/target"));
	assert_fine(folder_list(in(s, "sub"), "", &s->arena, &names, &err));
	assert_string_equal(names[0], "target");
	assert_null(names[1]);
	assert_fails(file_write(in(s, "none/f"), "x", 1, 0644, &err), ERROR_FAILED,
		     in(s, "none/f"));
}

static void test_folder_make(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	char *longer = arena_alloc(&s->arena, 6000);

	assert_fine(folder_make(in(s, "a/b//c/"), 0700, &err));
	assert_fine(folder_make(in(s, "a/b/c"), 0700, &err));
	assert_int_equal(mode_of(in(s, "a")), 0700);
	assert_int_equal(mode_of(in(s, "a/b/c")), 0700);
	put(s, "file", "x");
	assert_fails(folder_make(in(s, "file"), 0700, &err), ERROR_FAILED, in(s, "file"));
	assert_fails(folder_make(in(s, "file/x"), 0700, &err), ERROR_FAILED, in(s, "file"));
	memset(longer, 'x', 5999);
	assert_fails(folder_make(longer, 0700, &err), ERROR_FAILED, "too long");
	assert_int_equal(symlink("a", in(s, "link")), 0);
	assert_fine(folder_make(in(s, "link/d"), 0700, &err));
	assert_true(file_exists(in(s, "a/d")));
}

static void test_folder_make_mode(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	mode_t old = umask(077);
	int rc = folder_make(in(s, "a/b"), 0755, &err);

	umask(old);
	assert_fine(rc);
	assert_int_equal(mode_of(in(s, "a")), 0755);
	assert_int_equal(mode_of(in(s, "a/b")), 0755);
}

static void test_folder_make_refuses_no_path(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(folder_make("", 0755, &err), -1);
	assert_int_equal(err.kind != ERROR_NONE, true);
}

static void test_folder_remove_does_not_follow_links(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};

	put(s, "outside/kept", "x");
	put(s, "gone/a/b/c", "x");
	put(s, "gone/.hidden", "x");
	assert_int_equal(symlink(in(s, "outside"), in(s, "gone/a/link")), 0);
	assert_int_equal(symlink(in(s, "outside/kept"), in(s, "gone/file-link")), 0);
	assert_int_equal(symlink("nowhere", in(s, "gone/dangling")), 0);
	assert_fine(folder_remove(in(s, "gone"), &err));
	assert_false(file_exists(in(s, "gone")));
	assert_string_equal(slurp(s, in(s, "outside/kept")), "x");
	assert_fine(folder_remove(in(s, "gone"), &err));
	/* a link itself goes, what it points at stays */
	assert_int_equal(symlink(in(s, "outside"), in(s, "link")), 0);
	assert_fine(folder_remove(in(s, "link"), &err));
	assert_int_equal(access(in(s, "link"), F_OK), -1);
	assert_true(file_exists(in(s, "outside/kept")));
}

static void test_folder_list(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char **names;

	for (int i = 99; i >= 0; i--)
		put(s, arena_printf(&s->arena, "l/f%02d.csv", i), "");
	put(s, "l/other.txt", "");
	put(s, "l/.hidden.csv", "");
	assert_fine(folder_list(in(s, "l"), ".csv", &s->arena, &names, &err));
	assert_string_equal(names[0], ".hidden.csv");
	for (int i = 0; i < 100; i++)
		assert_string_equal(names[i + 1], arena_printf(&s->arena, "f%02d.csv", i));
	assert_null(names[101]);
	assert_fine(folder_list(in(s, "l"), "", &s->arena, &names, &err));
	assert_null(names[102]);
	assert_fails(folder_list(in(s, "none"), "", &s->arena, &names, &err), ERROR_FAILED,
		     in(s, "none"));
}

/* 0 when another process gets the lock, 1 when it is refused with the right words. */
static int lock_elsewhere(const char *path)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct error err = {0};
		int fd;

		if (file_lock(path, &fd, &err) == 0)
			_exit(0);
		_exit(strstr(err.text, "another ringup") && strstr(err.text, path) ? 1 : 2);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 3;
	return WEXITSTATUS(status);
}

static void test_lock(void **state)
{
	struct scratch *s = *state;
	const char *path = in(s, "lock");
	struct error err = {0};
	int fd = -1, again = -1;

	assert_fine(file_lock(path, &fd, &err));
	assert_int_equal(lock_elsewhere(path), 1);
	assert_int_equal(file_lock(path, &again, &err), -1);
	assert_int_equal(again, -1);
	fd_close(&fd);
	assert_int_equal(fd, -1);
	assert_int_equal(lock_elsewhere(path), 0);
	/* the other process is gone: its lock went with it */
	assert_fine(file_lock(path, &fd, &err));
	fd_close(&fd);
	assert_fails(file_lock(in(s, "none/lock"), &fd, &err), ERROR_FAILED, in(s, "none/lock"));
}

static void test_paths(void **state)
{
	struct scratch *s = *state;
	struct arena *a = &s->arena;

	setenv("HOME", "/home/ops", 1);
	assert_string_equal(path_expand(a, "/x", "~/k"), "/home/ops/k");
	assert_string_equal(path_expand(a, "/x", "k"), "/x/k");
	assert_string_equal(path_expand(a, "/x", "/k"), "/k");
	assert_string_equal(path_expand(a, NULL, "k"), "k");
	assert_string_equal(path_expand(a, ".", "k"), "k");
	assert_string_equal(path_folder(a, "a/b/c"), "a/b");
	assert_string_equal(path_folder(a, "c"), ".");
	assert_string_equal(path_folder(a, "/c"), "/");
}

static void test_share_path(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char *path;

	put(s, "recipes/x.recipe", "");
	setenv("RINGUP_SHARE", s->folder, 1);
	assert_fine(share_path(&s->arena, "recipes/x.recipe", &path, &err));
	assert_string_equal(path, in(s, "recipes/x.recipe"));
	assert_fails(share_path(&s->arena, "recipes/none", &path, &err), ERROR_FAILED,
		     "recipes/none");
	assert_has(err.text, "RINGUP_SHARE");
}

/* What could be read without end, or could keep a reader waiting, is refused at once. */
static void test_only_files_are_read(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	size_t length = 1;
	char *text;
	int fd = 7;

	assert_int_equal(mkfifo(in(s, "pipe"), 0600), 0);
	assert_int_equal(symlink("/dev/zero", in(s, "link")), 0);
	assert_fails(file_read(in(s, "pipe"), MIB, &s->arena, &text, NULL, &err), ERROR_FAILED,
		     "named pipe");
	assert_fails(file_read("/dev/zero", MIB, &s->arena, &text, NULL, &err), ERROR_FAILED,
		     "/dev/zero: it is a device");
	assert_fails(file_read_named(in(s, "link"), MIB, &s->arena, &text, NULL, &err),
		     ERROR_FAILED, "device");
	assert_fails(file_read(s->folder, MIB, &s->arena, &text, NULL, &err), ERROR_FAILED,
		     "folder");
	assert_fails(file_open(in(s, "pipe"), &fd, &err), ERROR_FAILED, in(s, "pipe"));
	assert_int_equal(fd, -1);
	assert_fails(file_read_named(in(s, "pipe"), MIB, &s->arena, &text, NULL, &err),
		     ERROR_FAILED, "nobody writes into");
	assert_fine(file_read("/dev/null", MIB, &s->arena, &text, &length, &err));
	assert_int_equal(length, 0);
	assert_fine(file_read("/proc/self/stat", MIB, &s->arena, &text, &length, &err));
	assert_true(length > 0);
}

/* A pipe that was handed over, as by a shell's "<(...)", and a named one with a writer. */
static void test_pipes_that_are_given(void **state)
{
	struct scratch *s = *state;
	const char *named = in(s, "pipe");
	struct error err = {0};
	size_t length;
	char *text, path[64];
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "some", 4), 4);
	close(ends[1]);
	snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
	assert_fine(file_read(path, MIB, &s->arena, &text, &length, &err));
	assert_string_equal(text, "some");
	close(ends[0]);
	assert_int_equal(mkfifo(named, 0600), 0);
	pid = fork();
	if (pid == 0) {
		int fd = open(named, O_WRONLY);

		usleep(100000);
		_exit(write(fd, "late", 4) == 4 ? 0 : 1);
	}
	assert_fine(file_read_named(named, MIB, &s->arena, &text, &length, &err));
	assert_string_equal(text, "late");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* XDG base directory specification: a relative path is ignored. No "./~" is ever meant. */
static void test_home(void **state)
{
	struct scratch *s = *state;
	static const char *const none[] = {NULL, "", "relative"};

	for (size_t i = 0; i < ARRAY_LEN(none); i++) {
		if (none[i])
			setenv("HOME", none[i], 1);
		else
			unsetenv("HOME");
		setenv("XDG_CACHE_HOME", none[i] ? none[i] : "", 1);
		assert_int_equal(path_home(&s->arena)[0], '/');
		assert_int_equal(path_expand(&s->arena, "x", "~/a")[0], '/');
		assert_int_equal(path_expand(&s->arena, "x", "~")[0], '/');
		assert_int_equal(path_cache_folder(&s->arena)[0], '/');
	}
	setenv("HOME", "/h", 1);
	assert_string_equal(path_expand(&s->arena, "x", "~/a"), "/h/a");
	assert_string_equal(path_cache_folder(&s->arena), "/h/.cache/ringup");
	setenv("XDG_CACHE_HOME", "/c", 1);
	assert_string_equal(path_cache_folder(&s->arena), "/c/ringup");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_write_and_read),
		SCRATCH_TEST(test_fill),
		SCRATCH_TEST(test_mode_whatever_the_umask),
		SCRATCH_TEST(test_write_is_atomic),
		SCRATCH_TEST(test_write_to_what_is_no_file),
		SCRATCH_TEST(test_failed_write_leaves_nothing),
		SCRATCH_TEST(test_folder_make),
		SCRATCH_TEST(test_folder_make_mode),
		SCRATCH_TEST(test_folder_make_refuses_no_path),
		SCRATCH_TEST(test_folder_remove_does_not_follow_links),
		SCRATCH_TEST(test_folder_list),
		SCRATCH_TEST(test_lock),
		SCRATCH_TEST(test_paths),
		SCRATCH_TEST(test_share_path),
		SCRATCH_TEST(test_only_files_are_read),
		SCRATCH_TEST(test_pipes_that_are_given),
		SCRATCH_TEST(test_home),
	};

	return cmocka_run_group_tests_name("file", tests, NULL, NULL);
}
