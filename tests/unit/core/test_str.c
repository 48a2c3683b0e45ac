/* SPDX-License-Identifier: MIT */
/* Growing strings and their ceiling, nearest words, sizes for people. */
#include "tests/unit/support.h"

#include "core/str.h"

static void test_grow(void **state)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	(void)state;
	assert_string_equal(s.text, "");
	for (int i = 0; i < 1000; i++)
		str_addf(&s, "%03d,", i);
	assert_int_equal(s.length, 4000);
	assert_int_equal(strncmp(s.text, "000,001,", 8), 0);
	assert_string_equal(s.text + 3992, "998,999,");
	assert_false(s.overflowed);
	str_clear(&s);
	str_add(&s, "a");
	str_add_char(&s, 'b');
	str_add_bytes(&s, "c\0d", 3);
	assert_int_equal(s.length, 5);
	assert_memory_equal(s.text, "abc\0d", 6);
}

static void test_ceiling(void **state)
{
	_cleanup_(str_release) struct str s = {0};

	(void)state;
	str_init_ceiling(&s, 100);
	for (int i = 0; i < 20; i++)
		str_add(&s, "12345");
	assert_int_equal(s.length, 100);
	assert_false(s.overflowed);
	str_add(&s, "");
	assert_false(s.overflowed);
	str_add_char(&s, 'x');
	assert_true(s.overflowed);
	assert_int_equal(s.length, 100);
	assert_string_equal(s.text + 95, "12345");
	str_clear(&s);
	assert_false(s.overflowed);
	str_addf(&s, "%0200d", 7);
	assert_int_equal(s.length, 100);
	assert_true(s.overflowed);
}

static void test_trim(void **state)
{
	_cleanup_(str_release) struct str s = STR_INIT;

	(void)state;
	str_add(&s, " a b \t\r\n\n");
	str_trim(&s);
	assert_string_equal(s.text, " a b");
	assert_int_equal(s.length, 4);
	str_clear(&s);
	str_add(&s, " \n");
	str_trim(&s);
	assert_string_equal(s.text, "");
}

static void test_nuls(void **state)
{
	char bytes[] = "\0ab\0\0c\0";

	(void)state;
	nuls_replace(bytes, 0, '?');
	assert_int_equal(bytes[0], '\0');
	nuls_replace(bytes, 6, '?');
	assert_string_equal(bytes, "?ab??c");
	nuls_replace(bytes, 6, '!');
	assert_string_equal(bytes, "?ab??c");
}

static void test_ends(void **state)
{
	(void)state;
	assert_true(starts_with("abc", ""));
	assert_true(starts_with("abc", "abc"));
	assert_false(starts_with("ab", "abc"));
	assert_true(ends_with("a.csv", ".csv"));
	assert_true(ends_with("a", ""));
	assert_false(ends_with("sv", ".csv"));
	assert_false(ends_with("a.csv2", ".csv"));
}

static void test_nearest_word(void **state)
{
	static const char *const keys[] = {"hosts", "registry", "stack", "os", "container", NULL};
	static const struct {
		const char *word, *nearest;
	} cases[] = {
		{"host", "hosts"},	     {"hots", "hosts"},	 {"registy", "registry"},
		{"regsitry", "registry"},    {"satck", "stack"}, {"conatiner", "container"},
		{"containers", "container"}, {"o", "os"},	 {"hosts", "hosts"},
		{"kubernetes", NULL},	     {"zzz", NULL},	 {"completely-else", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got = nearest_word(cases[i].word, keys);

		if (!cases[i].nearest)
			assert_null(got);
		else
			assert_string_equal(got, cases[i].nearest);
	}
}

static void test_nearest_word_of_long_words(void **state)
{
	char longer[300];
	const char *const candidates[] = {longer, "os", NULL};

	(void)state;
	memset(longer, 'q', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	assert_string_equal(nearest_word("os", candidates), "os");
	nearest_word(longer, candidates);
}

static void test_format_bytes(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} cases[] = {
		{0, "0 B"},
		{3, "3 B"},
		{1023, "1023 B"},
		{1024, "1.0 KiB"},
		{12 * KIB, "12 KiB"},
		{1536 * MIB, "1.5 GiB"},
		{80 * GIB, "80 GiB"},
		{2048 * GIB, "2.0 TiB"},
		{5000000 * GIB, "4883 TiB"},
	};
	char buffer[32];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(format_bytes(buffer, cases[i].bytes), cases[i].text);
	assert_ptr_equal(format_bytes(buffer, UINT64_MAX), buffer);
}

static void test_parse_bytes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} good[] = {{"1", 1},
		    {"7B", 0},
		    {"40G", 40 * GIB},
		    {"40GiB", 40 * GIB},
		    {"3kb", 3 * KIB},
		    {"512m", 512 * MIB},
		    {"2TIB", 2048 * GIB},
		    {"18446744073709551615", UINT64_MAX}};
	static const char *const bad[] = {"",	       "0",    "0G", "-1",
					  "G",	       "1.5G", " 1", "1 G",
					  "1GG",       "1Gi",  "1X", "18446744073709551616",
					  "16777216T", "1Bi",  "1bB"};
	uint64_t bytes;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		bytes = 0;
		assert_true(parse_bytes(good[i].text, &bytes));
		if (good[i].bytes)
			assert_true(bytes == good[i].bytes);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (parse_bytes(bad[i], &bytes))
			fail_msg("'%s' was read as a size", bad[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_grow),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_trim),
		cmocka_unit_test(test_nuls),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_nearest_word),
		cmocka_unit_test(test_nearest_word_of_long_words),
		cmocka_unit_test(test_format_bytes),
		cmocka_unit_test(test_parse_bytes),
	};

	return cmocka_run_group_tests_name("str", tests, NULL, NULL);
}
