/* SPDX-License-Identifier: MIT */
/* What registries write into Range and Content-Range. */
#include "tests/unit/support.h"

#include "registry-client/http/range.h"

static void test_session(void **state)
{
	static const struct {
		const char *value;
		int64_t bytes;
	} rows[] = {
		{"0-0", 0},
		{"0-1", 2},
		{"0-99", 100},
		{"bytes=0-99", 100},
		{"0-99 ", 100},
		{"0-9223372036854775806", INT64_MAX},
		{"0-9223372036854775807", -1},
		{"0-18446744073709551616", -1},
		{"0-99999999999999999999999999", -1},
		{"1-99", -1},
		{"0--5", -1},
		{"-0-5", -1},
		{"0-", -1},
		{"-", -1},
		{"", -1},
		{"0-5x", -1},
		{"0-5-7", -1},
		{" 0-5", -1},
		{"0- 5", -1},
		{"+0-5", -1},
		{"bytes 0-5", -1},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (range_of_session(rows[i].value) != rows[i].bytes)
			fail_msg("'%s': %lld", rows[i].value,
				 (long long)range_of_session(rows[i].value));
}

static void test_content(void **state)
{
	static const struct {
		const char *value;
		bool ok;
		uint64_t from, to;
		int64_t total;
	} rows[] = {
		{"bytes 0-99/1234", true, 0, 99, 1234},
		{"Bytes 0-99/1234", true, 0, 99, 1234},
		{"bytes 5-5/6", true, 5, 5, 6},
		{"bytes 5-9/*", true, 5, 9, -1},
		{"bytes 5-9/10 ", true, 5, 9, 10},
		{"bytes 5-9/9", false, 0, 0, 0},
		{"bytes 9-5/20", false, 0, 0, 0},
		{"bytes 0-99", false, 0, 0, 0},
		{"bytes */1234", false, 0, 0, 0},
		{"bytes 0-99/", false, 0, 0, 0},
		{"bytes 0-99/**", false, 0, 0, 0},
		{"bytes 0-99/-1", false, 0, 0, 0},
		{"bytes -1-99/200", false, 0, 0, 0},
		{"bytes=0-99/200", false, 0, 0, 0},
		{"bits 0-99/200", false, 0, 0, 0},
		{"bytes", false, 0, 0, 0},
		{"byt", false, 0, 0, 0},
		{"", false, 0, 0, 0},
		{"bytes 0-99999999999999999999/5", false, 0, 0, 0},
		{"bytes 0-1/99999999999999999999", false, 0, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct content_range range;
		bool ok = range_of_content(rows[i].value, &range);

		if (ok != rows[i].ok)
			fail_msg("'%s': %d", rows[i].value, ok);
		if (!ok)
			continue;
		assert_int_equal(range.from, rows[i].from);
		assert_int_equal(range.to, rows[i].to);
		assert_int_equal(range.total, rows[i].total);
	}
}

/* What a registry may ask for is a number, or nothing; a number is never cut. */
static void test_chunk_min(void **state)
{
	static const struct {
		const char *value;
		bool ok;
		uint64_t bytes;
	} rows[] = {
		{"0", true, 0},
		{"5242880", true, 5242880},
		{"10 ", true, 10},
		{"99999999999", true, 99999999999},
		{"000000000000000000000007", true, 7},
		{"9223372036854775806", true, 9223372036854775806ULL},
		{"9223372036854775808", true, UINT64_MAX},
		{"99999999999999999999999999", true, UINT64_MAX},
		{"", false, 0},
		{"-1", false, 0},
		{"+1", false, 0},
		{"1e9", false, 0},
		{"0x10", false, 0},
		{"1 2", false, 0},
		{" 1", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t bytes;

		if (range_of_chunk_min(rows[i].value, &bytes) != rows[i].ok ||
		    bytes != rows[i].bytes)
			fail_msg("'%s': %llu", rows[i].value, (unsigned long long)bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_chunk_min),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
