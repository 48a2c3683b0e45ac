/* SPDX-License-Identifier: MIT */
/* Why a step failed, by what it printed. */
#include "tests/unit/support.h"

#include "builder/build_failure.h"
#include "core/table.h"

static void test_every_row(void **state)
{
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/recipes/build-failures.csv", source_root(s));
	struct error err = {0};
	struct table table;

	assert_fine(table_load(path, &s->arena, &table, &err));
	assert_in_range(table.row_count, 1, 1000);
	for (size_t i = 0; i < table.row_count; i++) {
		const char *text = table_cell(&table, i, "text"), *again;
		struct build_failure found = build_failure_find(
			arena_printf(&s->arena, "line 1\n  %s behind\nlast", text), &s->arena);

		again = table_cell(&table, i, "again");
		assert_true(*text && *table_cell(&table, i, "reason"));
		assert_true(strcmp(again, "yes") == 0 || strcmp(again, "no") == 0);
		/* a row that an earlier one hides says nothing to anybody */
		assert_string_equal(found.reason, table_cell(&table, i, "reason"));
		assert_string_equal(found.advice, table_cell(&table, i, "advice"));
		assert_int_equal(found.again, strcmp(again, "yes") == 0);
	}
}

static void test_unknown(void **state)
{
	struct scratch *s = *state;
	struct build_failure found;
	struct error err;

	source_root(s);
	found = build_failure_find("all is well", &s->arena);
	assert_string_equal(found.reason, "");
	assert_string_equal(found.advice, "");
	assert_false(found.again);
	assert_fails(build_failure_set("the step", "one\ntwo\n\n", &err), ERROR_FAILED, "");
	assert_string_equal(err.text, "the step: one; two");
	assert_fails(build_failure_set("the step", "", &err), ERROR_FAILED, "the step: ");
	/* without the table */
	setenv("RINGUP_SHARE", s->folder, 1);
	found = build_failure_find("E: Unable to locate package x", &s->arena);
	assert_string_equal(found.reason, "");
}

static void test_sentence(void **state)
{
	struct scratch *s = *state;
	struct error err;

	source_root(s);
	assert_fails(
		build_failure_set("step 3", "Reading...\nE: Unable to locate package x\n", &err),
		ERROR_FAILED,
		"step 3: the package archive has no such package: E: Unable to locate package x; correct image.apt");
}

/* A terminal's colours and cursor go; nothing of the text does. */
static void test_terminal(void **state)
{
	static const struct {
		const char *output, *expected;
	} rows[] = {
		{"\033[31mred\033[0m text", "red text"},
		{"\033[1;38;5;9mred\033[m", "red"},
		{"\033[2K\033[1Gerror: no memory", "error: no memory"},
		{"\033[?25lhidden cursor", "hidden cursor"},
		{"a\033[Kb", "ab"},
		{"\033]0;title\007text", "text"},
		{"\033(Btext", "text"},
		{"ends\033", "ends"},
		{"ends\033[", "ends"},
		{"ends\033[12;", "ends"},
	};
	struct scratch *s = *state;
	struct error err;

	source_root(s);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_fails(build_failure_set("x", rows[i].output, &err), ERROR_FAILED, "x: ");
		assert_string_equal(err.text + 3, rows[i].expected);
	}
}

static void test_long_output(void **state)
{
	struct scratch *s = *state;
	char *output = arena_alloc(&s->arena, 300000);
	const char end[] = "\nthe end";
	struct error err;

	source_root(s);
	for (size_t i = 0; i < 299980; i++)
		output[i] = i % 50 == 49 ? '\n' : 'x';
	memcpy(output + 299980, end, sizeof(end));
	assert_fails(build_failure_set("x", output, &err), ERROR_FAILED, "; the end");
	assert_in_range(strlen(err.text), 300, 800);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_every_row),	SCRATCH_TEST(test_unknown),
		SCRATCH_TEST(test_sentence),	SCRATCH_TEST(test_terminal),
		SCRATCH_TEST(test_long_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
