/* SPDX-License-Identifier: MIT */
/* The list of a folder's files, what changed in it, and what --sync takes as its argument. */
#include "tests/unit/support.h"

#include "deployer/job/listing.h"
#include "deployer/job/sync/sync.h"

#include <fcntl.h>
#include <sys/time.h>

/* Scans until no file is so new that its time could lie. */
static void scan(struct scratch *s, struct listing *listing)
{
	_cleanup_(str_release) struct str text = STR_INIT;
	struct error err = {0};

	for (int i = 0; i < 1000; i++) {
		assert_fine(listing_scan(s->folder, &s->arena, listing, &err));
		str_clear(&text);
		listing_text(listing, &text);
		if (!strstr(text.text, " ?"))
			return;
		usleep(10000);
	}
	fail_msg("its files stay new: %s", text.text);
}

static void make(struct scratch *s, const char *name, const char *text)
{
	struct error err = {0};

	assert_fine(file_write(in(s, name), text, strlen(text), 0644, &err));
}

static void make_some(struct scratch *s)
{
	assert_int_equal(mkdir(in(s, "b"), 0755), 0);
	assert_int_equal(mkdir(in(s, "b/empty"), 0755), 0);
	assert_int_equal(mkdir(in(s, "__pycache__"), 0755), 0);
	make(s, "a.py", "1");
	make(s, "b/c.py", "22");
	make(s, "__pycache__/x", "1");
	make(s, "new\nline\\", "3");
	make(s, "bad\xff", "3");
	assert_int_equal(symlink("../a.py", in(s, "b/link")), 0);
	assert_int_equal(symlink("../../x", in(s, "b/out")), 0);
	assert_int_equal(symlink("/etc/passwd", in(s, "absolute")), 0);
	assert_int_equal(mkfifo(in(s, "pipe"), 0600), 0);
}

static const char *keys(struct scratch *s, const struct listing *listing, bool only_changed)
{
	struct words words = WORDS_INIT(&s->arena);

	for (size_t i = 0; i < listing->count; i++)
		if (!only_changed || listing->entries[i].is_changed)
			words_add(&words, listing->entries[i].key);
	return words_join(&words, " ");
}

static void test_scan(void **state)
{
	struct scratch *s = *state;
	struct listing listing;
	const char *left_out;

	make_some(s);
	scan(s, &listing);
	assert_string_equal(keys(s, &listing, false),
			    "a.py b/ b/c.py b/empty/ b/link bad\xff new\\0012line\\0134");
	assert_int_equal(listing.files, 5);
	left_out = words_join(&listing.left_out, "; ");
	assert_int_equal(listing.left_out.count, 3);
	assert_has(left_out, "b/out: a link that leads out of the folder");
	assert_has(left_out, "absolute: a link that leads out");
	assert_has(left_out, "pipe: a socket, pipe or device");
	assert_non_null(listing_find(&listing, "new\nline\\"));
	assert_ptr_equal(listing_find(&listing, "b"), &listing.entries[1]);
	assert_null(listing_find(&listing, "nothing"));
}

/* What differs from the text of an earlier scan. */
static const char *changed_since(struct scratch *s, const struct str *earlier)
{
	struct listing listing;

	scan(s, &listing);
	listing_compare(&listing, earlier->text);
	return keys(s, &listing, true);
}

static void test_compare(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str text = STR_INIT;
	struct timespec times[2] = {{0}};
	struct listing first, second;
	struct stat st;

	make_some(s);
	scan(s, &first);
	listing_text(&first, &text);
	scan(s, &second);
	assert_string_equal(first.digest, second.digest);
	assert_string_equal(changed_since(s, &text), "");
	/* the same size and mtime: the inode or the ctime tells */
	assert_int_equal(stat(in(s, "a.py"), &st), 0);
	make(s, "a.py", "2");
	times[0] = times[1] = st.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, in(s, "a.py"), times, 0), 0);
	assert_string_equal(changed_since(s, &text), "a.py");
	assert_int_equal(chmod(in(s, "b/c.py"), 0755), 0);
	assert_int_equal(unlink(in(s, "b/link")), 0);
	assert_int_equal(symlink("c.py", in(s, "b/link")), 0);
	assert_int_equal(unlink(in(s, "bad\xff")), 0);
	make(s, "z", "");
	assert_string_equal(changed_since(s, &text), "a.py b/c.py b/link z");
	/* a file that becomes a folder */
	assert_int_equal(unlink(in(s, "z")), 0);
	assert_int_equal(mkdir(in(s, "z"), 0755), 0);
	assert_string_equal(changed_since(s, &text), "a.py b/c.py b/link z/");
	/* no list, and lists that are no lists */
	str_clear(&text);
	assert_has(changed_since(s, &text), "a.py b/ b/c.py b/empty/");
	str_add(&text, "a.py\nb/\t");
	assert_has(changed_since(s, &text), "a.py b/ b/c.py b/empty/");
}

/* A file of this moment may change again without another time: its line equals no other. */
static void test_fresh_file(void **state)
{
	struct scratch *s = *state;
	struct listing first, second;
	struct error err = {0};

	for (int i = 0; i < 100; i++) { /* until both scans come soon enough after it */
		make(s, "a", "1");
		assert_fine(listing_scan(s->folder, &s->arena, &first, &err));
		assert_fine(listing_scan(s->folder, &s->arena, &second, &err));
		if (strstr(first.entries[0].line, " ?") && strstr(second.entries[0].line, " ?")) {
			assert_string_not_equal(first.digest, second.digest);
			return;
		}
	}
	fail_msg("no scan was quick enough");
}

static void test_links(void **state)
{
	struct scratch *s = *state;
	struct listing listing;

	assert_false(listing_link_leaves("a", "b"));
	assert_false(listing_link_leaves("a/b", "../c"));
	assert_false(listing_link_leaves("a/b", ".././/c/../d"));
	assert_false(listing_link_leaves("a", "."));
	assert_true(listing_link_leaves("a", ".."));
	assert_true(listing_link_leaves("a/b", "../../c"));
	assert_true(listing_link_leaves("a", "b/../../c"));
	assert_true(listing_link_leaves("a", "/b"));
	/* by its words it stays inside, and by way of another link it does not */
	assert_int_equal(mkdir(in(s, "d"), 0755), 0);
	assert_int_equal(symlink(".", in(s, "here")), 0);
	assert_int_equal(symlink("here/..", in(s, "up")), 0);
	scan(s, &listing);
	assert_string_equal(keys(s, &listing, false), "d/ here");
	assert_int_equal(listing.left_out.count, 1);
}

static void test_too_large(void **state)
{
	struct scratch *s = *state;
	struct listing listing;
	struct error err = {0};

	assert_int_equal(mkdir(in(s, "data"), 0755), 0);
	make(s, "data/x", "");
	assert_int_equal(truncate(in(s, "data/x"), (off_t)LISTING_BYTES_MAX), 0);
	assert_fine(listing_scan(s->folder, &s->arena, &listing, &err));
	make(s, "a", "1");
	assert_fails(listing_scan(s->folder, &s->arena, &listing, &err), ERROR_USAGE,
		     "the largest parts are data (1.0 GiB");
	assert_has(err.text, ".ringupignore");
	make(s, ".ringupignore", "data\n");
	err = (struct error){0};
	assert_fine(listing_scan(s->folder, &s->arena, &listing, &err));
}

static void test_argument(void **state)
{
	struct scratch *s = *state;
	struct job_sync sync;
	struct error err = {0};

	assert_fine(job_sync_parse(s->folder, &s->arena, &sync, &err));
	assert_string_equal(sync.folder, s->folder);
	assert_string_equal(sync.target, "");
	assert_fine(job_sync_parse(arena_printf(&s->arena, "%s/.:/a//b/", s->folder), &s->arena,
				   &sync, &err));
	assert_string_equal(sync.folder, s->folder);
	assert_string_equal(sync.target, "/a/b");
	assert_int_equal(mkdir(in(s, "a:b"), 0755), 0);
	assert_fine(job_sync_parse(in(s, "a:b"), &s->arena, &sync, &err));
	assert_string_equal(sync.target, "");
	make(s, "file", "");
	assert_fails(job_sync_parse(in(s, "file"), &s->arena, &sync, &err), ERROR_USAGE,
		     "is not a folder");
	assert_fails(job_sync_parse(in(s, "none"), &s->arena, &sync, &err), ERROR_USAGE,
		     "there is no folder");
	assert_fails(job_sync_parse("/", &s->arena, &sync, &err), ERROR_USAGE, "a folder below");
	assert_fails(
		job_sync_parse(arena_printf(&s->arena, "%s:/", s->folder), &s->arena, &sync, &err),
		ERROR_USAGE, "a folder below /");
	assert_fails(job_sync_parse(arena_printf(&s->arena, "%s:/a/../..", s->folder), &s->arena,
				    &sync, &err),
		     ERROR_USAGE, "without '..'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_scan),       SCRATCH_TEST(test_compare),
		SCRATCH_TEST(test_fresh_file), SCRATCH_TEST(test_links),
		SCRATCH_TEST(test_too_large),  SCRATCH_TEST(test_argument),
	};

	return cmocka_run_group_tests_name("listing", tests, NULL, NULL);
}
