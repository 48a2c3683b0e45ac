/* SPDX-License-Identifier: MIT */
/* Reproducible tar streams, read back by a real tar. */
#include "tests/unit/support.h"

#include "core/digest.h"
#include "core/proc.h"
#include "core/tarball.h"

#define LONG_NAME                                                                               \
	"a-folder-with-a-rather-long-name/another-folder-with-a-long-name-too/and-a-third-one-" \
	"that-makes-it-longer-than-one-hundred-characters/file"

static void write_tar(struct scratch *s, const char *path)
{
	_cleanup_(file_close) FILE *out = fopen(path, "we");
	_cleanup_(tarball_release) struct tarball tarball = {0};
	struct error err = {0};

	assert_non_null(out);
	assert_fine(tarball_init(&tarball, out, path, &err));
	assert_fine(tarball_add(&tarball, "a/run", "#!/bin/sh\n", 10, 0755, &err));
	assert_fine(tarball_add(&tarball, "empty", "", 0, 0644, &err));
	assert_fine(tarball_add(&tarball, "secret", "a\0b", 3, 0600, &err));
	assert_fine(tarball_add(&tarball, LONG_NAME, "x", 1, 0644, &err));
	assert_fine(tarball_add(&tarball,
				"gr\xc3\xbc\xc3\x9f"
				"e",
				"y", 1, 0644, &err));
	assert_fine(tarball_finish(&tarball, &err));
	(void)s;
}

static void test_same_bytes(void **state)
{
	struct scratch *s = *state;
	char first[DIGEST_TEXT_BYTES], second[DIGEST_TEXT_BYTES];
	struct error err = {0};

	write_tar(s, in(s, "1.tar"));
	sleep(1);
	setenv("TZ", "Asia/Tokyo", 1);
	write_tar(s, in(s, "2.tar"));
	assert_fine(digest_of_file(in(s, "1.tar"), first, &err));
	assert_fine(digest_of_file(in(s, "2.tar"), second, &err));
	assert_string_equal(first, second);
}

static void test_listing(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error err = {0};
	struct proc proc = {.words = WORDS("tar", "--numeric-owner", "--utc",
					   "--quoting-style=escape", "-tvf", in(s, "l.tar")),
			    .env = WORDS("LC_ALL=C.UTF-8")};

	write_tar(s, in(s, "l.tar"));
	assert_fine(proc_run(&proc, &result, &err));
	assert_int_equal(result.status, 0);
	assert_string_equal(result.out.text,
			    "-rwxr-xr-x 0/0              10 1970-01-01 00:00 a/run\n"
			    "-rw-r--r-- 0/0               0 1970-01-01 00:00 empty\n"
			    "-rw------- 0/0               3 1970-01-01 00:00 secret\n"
			    "-rw-r--r-- 0/0               1 1970-01-01 00:00 " LONG_NAME "\n"
			    "-rw-r--r-- 0/0               1 1970-01-01 00:00 gr\xc3\xbc\xc3\x9f"
			    "e\n");
}

static void test_contents(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};

	write_tar(s, in(s, "c.tar"));
	assert_fine(folder_make(in(s, "out"), 0755, &err));
	assert_fine(proc_check(WORDS("tar", "-C", in(s, "out"), "-xf", in(s, "c.tar")), &err));
	assert_string_equal(slurp(s, in(s, "out/a/run")), "#!/bin/sh\n");
	assert_memory_equal(slurp(s, in(s, "out/secret")), "a\0b", 4);
	assert_string_equal(slurp(s, in(s, "out/" LONG_NAME)), "x");
}

static void test_full_disk(void **state)
{
	/* in this order: the release may write the end, so the file must be open still */
	_cleanup_(file_close) FILE *out = fopen("/dev/full", "we");
	_cleanup_(tarball_release) struct tarball tarball = {0};
	static char bytes[100000];
	struct error err = {0};
	int rc = 0;

	(void)state;
	assert_non_null(out);
	leaks_of_libarchive(true);
	assert_fine(tarball_init(&tarball, out, "x.tar", &err));
	leaks_of_libarchive(false);
	for (int i = 0; i < 10 && rc == 0; i++)
		rc = tarball_add(&tarball, "f", bytes, sizeof(bytes), 0644, &err);
	assert_int_equal(rc, -1);
	assert_has(err.text, "x.tar");
	assert_has(err.text, "No space left");
}

/* GNU's format: names of any bytes and any length, which tar unpacks as they were. */
static void test_gnu(void **state)
{
	struct scratch *s = *state;
	_cleanup_(file_close) FILE *out = fopen(in(s, "g.tar"), "we");
	_cleanup_(tarball_release) struct tarball tarball = {.time_s = 0};
	struct error err = {0};
	struct stat st;

	assert_fine(tarball_init_gnu(&tarball, out, "g.tar", &err));
	tarball.time_s = 981173106;
	assert_fine(tarball_add(&tarball, "bad\xff\nx", "1", 1, 0755, &err));
	assert_fine(tarball_add(&tarball, LONG_NAME LONG_NAME LONG_NAME, "22", 2, 0644, &err));
	assert_fine(
		tarball_add_other(&tarball, TARBALL_SYMLINK, "\xfelink", "bad\xff\nx", 0777, &err));
	assert_fine(tarball_finish(&tarball, &err));
	file_close(&out);
	out = NULL;
	assert_fine(proc_check(WORDS("tar", "-xf", in(s, "g.tar"), "-C", s->folder), &err));
	assert_int_equal(stat(in(s, "\xfelink"), &st), 0);
	assert_int_equal(st.st_mtim.tv_sec, 981173106);
	assert_int_equal(st.st_mode & 0777, 0755);
	assert_int_equal(stat(in(s, LONG_NAME LONG_NAME LONG_NAME), &st), 0);
	assert_int_equal(st.st_size, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_same_bytes), SCRATCH_TEST(test_listing),   SCRATCH_TEST(test_gnu),
		SCRATCH_TEST(test_contents),   SCRATCH_TEST(test_full_disk),
	};

	return cmocka_run_group_tests_name("tarball", tests, NULL, NULL);
}
