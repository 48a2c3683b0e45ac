/* SPDX-License-Identifier: MIT */
/* What is made beside its place: who lives keeps his, what the dead left goes. */
#include "tests/unit/support.h"

#include "core/file.h"
#include "core/temporary.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define OLD_S 3 /* younger ones are left alone */

static size_t count(struct scratch *s)
{
	struct error err = {0};
	const char **names;
	size_t found = 0;

	assert_int_equal(folder_list(s->folder, "", &s->arena, &names, &err), 0);
	while (names[found])
		found++;
	return found;
}

static void test_kind(struct scratch *s, enum temporary_kind kind)
{
	const char *path = in(s, "place"), *dead, *alive, *own;
	struct error err = {0};
	int dead_fd, alive_fd, own_fd;
	struct stat st;

	dead_fd = temporary_make(path, kind, &s->arena, &dead, &err);
	alive_fd = temporary_make(path, kind, &s->arena, &alive, &err);
	assert_true(dead_fd >= 0 && alive_fd >= 0);
	assert_int_equal(stat(dead, &st), 0);
	assert_int_equal(S_ISDIR(st.st_mode), kind == TEMPORARY_FOLDER);
	if (kind == TEMPORARY_FOLDER)
		put(s, arena_printf(&s->arena, "%s/file", dead + strlen(s->folder) + 1), "content");
	/* others', and what only looks alike */
	put(s, "place.unfinished-abcdefg", "");
	put(s, "other.unfinished-abcdef", "");
	close(dead_fd);
	own_fd = temporary_make(path, kind, &s->arena, &own, &err);
	assert_true(own_fd >= 0);
	close(own_fd);
	assert_int_equal(count(s), 5); /* too young to be taken for a dead process's */
	sleep(OLD_S);
	own_fd = temporary_make(path, kind, &s->arena, &own, &err);
	assert_true(own_fd >= 0);
	assert_false(file_exists(dead));
	assert_true(file_exists(alive) && file_exists(own));
	assert_int_equal(count(s), 4);
	close(own_fd);
	close(alive_fd);
}

static void test_file(void **state)
{
	test_kind(*state, TEMPORARY_FILE);
}

static void test_folder(void **state)
{
	test_kind(*state, TEMPORARY_FOLDER);
}

static void test_no_folder(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	const char *temporary;

	assert_int_equal(
		temporary_make(in(s, "gone/place"), TEMPORARY_FILE, &s->arena, &temporary, &err),
		-1);
	assert_has(err.text, "cannot make a file beside");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_file),
		SCRATCH_TEST(test_folder),
		SCRATCH_TEST(test_no_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
