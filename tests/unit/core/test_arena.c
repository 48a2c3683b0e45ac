/* SPDX-License-Identifier: MIT */
/* Arenas and word lists. */
#include "tests/unit/support.h"

#include "core/words.h"

#include <signal.h>
#include <sys/wait.h>

static void test_alloc_is_zeroed_and_aligned(void **state)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	static const size_t sizes[] = {0, 1, 3, 16, 17, 1000, 32768, 32769, 200000, 5};

	(void)state;
	for (int round = 0; round < 50; round++) {
		for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
			unsigned char *p = arena_alloc(&arena, sizes[i]);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % 16, 0);
			for (size_t j = 0; j < sizes[i]; j++)
				assert_int_equal(p[j], 0);
			memset(p, 0xff, sizes[i]);
		}
	}
}

static void test_allocations_do_not_overlap(void **state)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	unsigned char *blocks[500];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++) {
		blocks[i] = arena_alloc(&arena, i + 1);
		memset(blocks[i], (int)(i & 0xff), i + 1);
	}
	for (size_t i = 0; i < ARRAY_LEN(blocks); i++)
		for (size_t j = 0; j <= i; j++)
			assert_int_equal(blocks[i][j], i & 0xff);
}

static void test_texts(void **state)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	char *big;

	(void)state;
	assert_string_equal(arena_strdup(&arena, "abc"), "abc");
	assert_string_equal(arena_strndup(&arena, "abcdef", 3), "abc");
	assert_string_equal(arena_printf(&arena, "%d-%s", 7, "x"), "7-x");
	big = arena_printf(&arena, "%0100000d", 1);
	assert_int_equal(strlen(big), 100000);
	arena_release(&arena);
	assert_null(arena.blocks);
	assert_string_equal(arena_strdup(&arena, "again"), "again");
}

/* A product that does not fit aborts instead of giving too little memory. */
static void test_overflow_aborts(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		_cleanup_(arena_release) struct arena arena = ARENA_INIT;

		signal(SIGABRT, SIG_DFL);
		if (!freopen("/dev/null", "w", stderr))
			_exit(1);
		arena_array(&arena, SIZE_MAX / 2, 4);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void test_words(void **state)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct words words = WORDS_INIT(&arena);
	char text[16] = "first";

	(void)state;
	words_add(&words, text);
	memcpy(text, "later", 6);
	words_add_all(&words, WORDS("a", "", "c"));
	words_addf(&words, "%s=%d", "n", 4);
	for (int i = 0; i < 100; i++) {
		words_add(&words, "x");
		assert_null(words.list[words.count]);
	}
	assert_int_equal(words.count, 105);
	assert_string_equal(words.list[0], "first");
	assert_string_equal(words.list[1], "a");
	assert_string_equal(words.list[2], "");
	assert_string_equal(words.list[4], "n=4");
	assert_string_equal(words.list[104], "x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alloc_is_zeroed_and_aligned),
		cmocka_unit_test(test_allocations_do_not_overlap),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_overflow_aborts),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests_name("arena", tests, NULL, NULL);
}
