/* SPDX-License-Identifier: MIT */
/* Files and folders that somebody else could change. */
#include "tests/unit/support.h"

#include "core/private.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOBODY 65534

static void test_own(void **state)
{
	static const mode_t own[] = {0700, 0755, 0744, 01755}, others[] = {0770, 0757, 0722, 01777};
	struct scratch *s = *state;
	const char *path = in(s, "a/b");
	struct error err = {0};

	assert_fine(private_check(in(s, "none"), &err));
	assert_fine(private_check_above(in(s, "none/at/all"), &err));
	assert_fine(folder_make(path, 0755, &err));
	for (size_t i = 0; i < ARRAY_LEN(own); i++) {
		_cleanup_(fd_close) int fd = open(path, O_RDONLY | O_CLOEXEC);

		assert_int_equal(chmod(path, own[i]), 0);
		assert_fine(private_check(path, &err));
		assert_fine(private_check_above(path, &err));
		assert_true(private_has_own(fd));
		assert_int_equal(chmod(path, others[i]), 0);
		assert_false(private_has_own(fd));
		assert_fails(private_check(path, &err), ERROR_FAILED, "has the mode ");
		assert_has(err.text, path);
		assert_has(err.text, "chmod go-w");
		err = (struct error){0};
	}
	assert_false(private_has_own(-1));
}

/* Who can write a folder above can put another one in the place of what was checked. */
static void test_above(void **state)
{
	struct scratch *s = *state;
	const char *above = in(s, "a"), *path = in(s, "a/b/none/c");
	struct error err = {0};

	assert_fine(folder_make(in(s, "a/b"), 0755, &err));
	assert_int_equal(chmod(above, 01777), 0);
	assert_fine(private_check_above(path, &err));
	assert_int_equal(chmod(above, 0775), 0);
	assert_fine(private_check_above(path, &err));
	assert_int_equal(chmod(above, 0757), 0);
	assert_fails(private_check_above(path, &err), ERROR_FAILED, "every user can exchange");
	assert_has(err.text, "a has the mode 0757");
	err = (struct error){0};
	assert_fails(private_check_above(in(s, "a/b"), &err), ERROR_FAILED, "every user");
	/* a link on the way: where it leads counts */
	err = (struct error){0};
	assert_int_equal(symlink("a/b", in(s, "link")), 0);
	assert_fails(private_check_above(in(s, "link/x"), &err), ERROR_FAILED,
		     "a has the mode 0757");
}

static void test_others(void **state)
{
	struct scratch *s = *state;
	const char *above = in(s, "a"), *path = in(s, "a/b");
	struct error err = {0};

	if (geteuid() != 0)
		fail_msg("this test changes owners: run it as root");
	assert_fine(folder_make(path, 0755, &err));
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	assert_fails(private_check(path, &err), ERROR_FAILED,
		     "belongs to another person, nobody (uid 65534)");
	assert_has(err.text, "this is root (uid 0)");
	assert_has(err.text, "XDG_CACHE_HOME");
	assert_int_equal(chown(path, 0, 0), 0);
	assert_int_equal(chown(above, NOBODY, NOBODY), 0);
	err = (struct error){0};
	assert_fine(private_check(path, &err));
	assert_fails(private_check_above(path, &err), ERROR_FAILED, "a belongs to another person");
	err = (struct error){0};
	assert_fails(private_check_above(in(s, "a/none/x"), &err), ERROR_FAILED,
		     "a belongs to another person");
	/* root may change everything anyway */
	err = (struct error){0};
	assert_int_equal(chown(above, 0, 0), 0);
	assert_int_equal(chown(path, NOBODY, NOBODY), 0);
	assert_int_equal(chmod(s->folder, 0755), 0);
	assert_int_equal(seteuid(NOBODY), 0);
	assert_int_equal(private_check(path, &err), 0);
	assert_int_equal(private_check_above(path, &err), 0);
	assert_int_equal(private_check(above, &err), -1);
	assert_int_equal(seteuid(0), 0);
	assert_has(err.text, "root (uid 0)");
}

/* Whatever was there before: the folder is this user's own and closed, or it is refused. */
static void test_private_folder(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char *folder = in(s, "state/");

	assert_fine(private_folder(folder, &err));
	assert_int_equal(mode_of(in(s, "state")), 0700);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_fine(private_folder(folder, &err));
	assert_int_equal(mode_of(in(s, "state")), 0700);
	assert_int_equal(chmod(folder, 0300), 0);
	assert_fine(private_folder(folder, &err));
	assert_int_equal(symlink("state", in(s, "link")), 0);
	assert_fails(private_folder(in(s, "link"), &err), ERROR_FAILED, "symbolic link");
	assert_fails(private_folder(in(s, "link/"), &err), ERROR_FAILED, "symbolic link");
	put(s, "file", "x");
	assert_fails(private_folder(in(s, "file"), &err), ERROR_FAILED, "not a folder");
	if (geteuid() != 0) /* only root can give a folder away */
		return;
	assert_int_equal(chown(folder, 4242, 4242), 0);
	assert_fails(private_folder(folder, &err), ERROR_FAILED,
		     "belongs to another user, nobody known (uid 4242");
}

static void test_private_file(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char *file = put(s, "key", "x");

	assert_fine(private_file(in(s, "none"), &err));
	assert_false(file_exists(in(s, "none")));
	assert_fine(private_file(file, &err));
	assert_int_equal(mode_of(file), 0600);
	assert_int_equal(symlink("key", in(s, "link")), 0);
	assert_fails(private_file(in(s, "link"), &err), ERROR_FAILED, "symbolic link");
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(file, 4242, 4242), 0);
	assert_fails(private_file(file, &err), ERROR_FAILED, "belongs to another user");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_own),		 SCRATCH_TEST(test_above),
		SCRATCH_TEST(test_others),	 SCRATCH_TEST(test_private_folder),
		SCRATCH_TEST(test_private_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
