/* SPDX-License-Identifier: MIT */
/* Aligned tables, and when colour is used. */
#include "tests/unit/support.h"

#include "core/term.h"
#include "core/words.h"

static const char *printed(struct scratch *s, const struct term_table *table)
{
	char *text = NULL, *copy;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	assert_non_null(out);
	term_table_print(table, out);
	fclose(out);
	copy = arena_strdup(&s->arena, text);
	free(text);
	return copy;
}

static void test_table(void **state)
{
	struct scratch *s = *state;
	struct term_table table;

	term_table_init(&table, &s->arena, WORDS("HOST", ">CPUS", "NOTE"));
	term_table_row(&table, WORDS("a-long-name", "8", "x"));
	term_table_row(&table, WORDS("b", "1024", "a longer note"));
	assert_string_equal(printed(s, &table), "HOST         CPUS  NOTE\n"
						"a-long-name     8  x\n"
						"b            1024  a longer note\n");
}

static void test_many_rows(void **state)
{
	struct scratch *s = *state;
	struct term_table table;
	const char *text;
	size_t lines = 0;

	term_table_init(&table, &s->arena, WORDS("A"));
	for (int i = 0; i < 500; i++)
		term_table_row(&table, WORDS(arena_printf(&s->arena, "row %d", i)));
	text = printed(s, &table);
	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	assert_int_equal(lines, 501);
	assert_has(text, "\nrow 0\n");
	assert_has(text, "\nrow 499\n");
}

static void test_missing_cell(void **state)
{
	struct scratch *s = *state;
	struct term_table table;
	const char *cells[] = {"x", NULL};

	term_table_init(&table, &s->arena, WORDS("A", "B"));
	term_table_row(&table, cells);
	assert_string_equal(printed(s, &table), "A  B\nx  -\n");
}

/* https://no-color.org; a memory stream is no terminal. */
static void test_color(void **state)
{
	FILE *file = tmpfile();

	(void)state;
	assert_non_null(file);
	unsetenv("NO_COLOR");
	assert_false(term_color(file, "auto"));
	assert_true(term_color(file, "always"));
	assert_false(term_color(file, "never"));
	setenv("NO_COLOR", "1", 1);
	assert_true(term_color(file, "always"));
	assert_false(term_color(file, "auto"));
	assert_int_equal(term_width(file), 80);
	assert_false(term_is_tty(file));
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_table),
		SCRATCH_TEST(test_many_rows),
		SCRATCH_TEST(test_missing_cell),
		cmocka_unit_test(test_color),
	};

	return cmocka_run_group_tests_name("term", tests, NULL, NULL);
}
