/* SPDX-License-Identifier: MIT */
/* CSV tables: cells, comments, and bad rows with their line. */
#include "tests/unit/support.h"

#include "core/table.h"

static void test_cells(void **state)
{
	struct scratch *s = *state;
	struct table table;
	struct error err = {0};
	const char *path = put(s, "t.csv",
			       "# a comment\nversion,os,note\n\n1.0,debian12,first; of two\n"
			       "# between, with commas\n2.0,,\n3.0,x,last");

	assert_fine(table_load(path, &s->arena, &table, &err));
	assert_string_equal(table.path, path);
	assert_int_equal(table.column_count, 3);
	assert_int_equal(table.row_count, 3);
	assert_string_equal(table_cell(&table, 0, "version"), "1.0");
	assert_string_equal(table_cell(&table, 0, "note"), "first; of two");
	assert_string_equal(table_cell(&table, 1, "os"), "");
	assert_string_equal(table_cell(&table, 1, "note"), "");
	assert_string_equal(table_cell(&table, 2, "note"), "last");
	assert_string_equal(table_cell(&table, 2, "none"), "");
	assert_int_equal(table.lines[0], 4);
	assert_int_equal(table.lines[1], 6);
	assert_int_equal(table.lines[2], 7);
	assert_true(table_has_column(&table, "os"));
	assert_false(table_has_column(&table, "OS"));
}

static void test_bad(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *where, *what;
	} cases[] = {
		{"", "", "no header"},
		{"# only\n\n", "", "no header"},
		{"a,b\n1,2\n1\n", ":3:", "1 cells"},
		{"a,b\n\n1,2,3\n", ":3:", "3 cells"},
		{"a,b\n1,2\n# x\n,\n,,\n", ":5:", "3 cells"},
		{"a,b,a\n1,2,3\n", ":1:", "two columns named 'a'"},
		{"# first\n\na,b,a\n", ":3:", "two columns named 'a'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = {0};
		struct table table;
		const char *path = put(s, "bad.csv", cases[i].text);

		assert_fails(table_load(path, &s->arena, &table, &err), ERROR_USAGE, cases[i].what);
		assert_has(err.text, arena_printf(&s->arena, "%s%s", path, cases[i].where));
	}
}

/* More cells than any table has columns. */
static void test_too_many(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct table table;
	char commas[101] = {0};

	memset(commas, ',', 100);
	assert_fails(table_load(put(s, "h.csv", commas), &s->arena, &table, &err), ERROR_USAGE,
		     "columns");
	assert_fails(table_load(put(s, "r.csv", arena_printf(&s->arena, "a,b\n%s\n", commas)),
				&s->arena, &table, &err),
		     ERROR_USAGE, ":2:");
	assert_lacks(err.text, " -1"); /* with the blank: a folder may be named so */
}

static void test_missing(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct table table;

	assert_int_equal(table_load(in(s, "none.csv"), &s->arena, &table, &err), -1);
	assert_has(err.text, in(s, "none.csv"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_cells),
		SCRATCH_TEST(test_bad),
		SCRATCH_TEST(test_too_many),
		SCRATCH_TEST(test_missing),
	};

	return cmocka_run_group_tests_name("table", tests, NULL, NULL);
}
