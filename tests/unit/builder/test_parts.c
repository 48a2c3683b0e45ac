/* SPDX-License-Identifier: MIT */
/* Recipes as files: their order, their sections, and when one applies. */
#include "tests/unit/support.h"

#include "builder/recipe/parts.h"

static void test_conditions(void **state)
{
	static const struct {
		const char *when;
		bool applies;
	} cases[] = {
		{"", true},
		{"os", true},
		{"none", false},
		{"!none", true},
		{"empty", false},
		{"!empty", true},
		{"os==debian12", true},
		{"os==debian", false},
		{"os!=debian12", false},
		{"none!=x", true},
		{"flags~b", true},
		{"flags~B", false},
		{"version>=2.10", true},
		{"version>=2.10.1", false},
		{"version<2.10.1", true},
		{"none<1", false},
		{"os & version>=2", true},
		{"os & none", false},
		{"none | os", true},
		{"none | empty", false},
		{"none|os==x|version<3", true},
		/* a condition of the whole is one of its alternatives, each time */
		{"os==debian12 & none | version<3 & flags~a", true},
		{"os==debian12 & none | version<2 & flags~a", false},
		{"none | os & empty | !os", false},
	};
	struct values *values = calloc(1, sizeof(*values));

	(void)state;
	assert_non_null(values);
	values_set(values, "os", "debian12");
	values_set(values, "empty", "");
	values_set(values, "flags", "a;b;cd");
	values_set(values, "version", "2.9");
	values_set(values, "version", "2.10");
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct part part = {.path = "x.recipe", .when = cases[i].when};
		struct error err = {0};
		bool applies;

		assert_fine(part_applies(&part, values, &applies, &err));
		if (applies != cases[i].applies)
			fail_msg("'%s' should %s", cases[i].when,
				 cases[i].applies ? "hold" : "not hold");
	}
	free(values);
}

static void test_load(void **state)
{
	struct scratch *s = *state;
	struct parts *parts = ARENA_NEW(&s->arena, struct parts);
	struct error err = {0};

	put(s, "r/b.recipe", "# why\norder: 20\n\n--- stack\nRUN b\n--- value x y\n\ntext\n");
	put(s, "r/a.recipe", "order: 20\nwhen: os & x\n--- check\n");
	put(s, "r/c.recipe", "order: 3\n");
	put(s, "r/.d.recipe", "an editor's");
	assert_fine(parts_load(in(s, "r"), &s->arena, parts, &err));
	assert_int_equal(parts->count, 3);
	assert_int_equal(parts->list[0].order, 3);
	assert_string_equal(parts->list[1].when, "os & x");
	assert_string_equal(part_section(&parts->list[1], "check")->text, "");
	assert_string_equal(part_section(&parts->list[2], "stack")->text, "RUN b\n");
	assert_int_equal(part_section(&parts->list[2], "stack")->line, 5);
	assert_string_equal(part_section(&parts->list[2], "value x y")->text, "\ntext\n");
	assert_null(part_section(&parts->list[2], "value"));
}

/* Sub-folders are for people: the order goes by the number and by the file's name. */
static void test_folders(void **state)
{
	struct scratch *s = *state;
	struct parts *parts = ARENA_NEW(&s->arena, struct parts);
	struct error err = {0};

	put(s, "f/cuda/c.recipe", "order: 20\n--- stack\nRUN c\n");
	put(s, "f/os/a.recipe", "order: 20\n");
	put(s, "f/b.recipe", "order: 20\n");
	put(s, "f/os/z.recipe", "order: 1\n");
	put(s, "f/os/x.csv", "no recipe");
	put(s, "f/os/deep/d.recipe", "unless: a folder in a folder is not read\n");
	put(s, "f/.git/e.recipe", "unless: a hidden folder is not read\n");
	assert_fine(parts_load(in(s, "f"), &s->arena, parts, &err));
	assert_int_equal(parts->count, 4);
	assert_string_equal(parts->list[0].name, "z.recipe");
	assert_string_equal(parts->list[1].name, "a.recipe");
	assert_string_equal(parts->list[2].path, in(s, "f/b.recipe"));
	assert_string_equal(parts->list[3].path, in(s, "f/cuda/c.recipe"));
	put(s, "f/cuda/a.recipe", "order: 3\n");
	assert_fails(parts_load(in(s, "f"), &s->arena, parts, &err), ERROR_USAGE,
		     "os/a.recipe has the name of");
	assert_has(err.text, "cuda/a.recipe");
}

static void test_bad_in_folder(void **state)
{
	struct scratch *s = *state;
	struct parts *parts = ARENA_NEW(&s->arena, struct parts);
	struct error err = {0};

	put(s, "g/cuda/a.recipe", "order: 20\nunless: os\n");
	assert_fails(parts_load(in(s, "g"), &s->arena, parts, &err), ERROR_USAGE,
		     "g/cuda/a.recipe:2: 'unless' is neither");
	assert_fails(parts_load(in(s, "none"), &s->arena, parts, &err), ERROR_FAILED,
		     in(s, "none"));
}

static void test_bad(void **state)
{
	struct scratch *s = *state;
	struct parts *parts = ARENA_NEW(&s->arena, struct parts);
	struct error err = {0};

	put(s, "r/a.recipe", "order: 20\nunless: os\n--- stack\n");
	assert_fails(parts_load(in(s, "r"), &s->arena, parts, &err), ERROR_USAGE,
		     "a.recipe:2: 'unless' is neither");
}

static void test_bad_condition(void **state)
{
	static const char *const cases[] = {"&", "a & ", "a & & b"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct part part = {.path = "x.recipe", .when = cases[i]};
		struct values *values = calloc(1, sizeof(*values));
		struct error err = {0};
		bool applies;

		assert_non_null(values);
		values_set(values, "a", "1");
		if (i == 1) /* a sign at the end asks for nothing more */
			assert_fine(part_applies(&part, values, &applies, &err));
		else
			assert_fails(part_applies(&part, values, &applies, &err), ERROR_USAGE,
				     "x.recipe: cannot read");
		free(values);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_conditions), SCRATCH_TEST(test_load),
		SCRATCH_TEST(test_folders),	   SCRATCH_TEST(test_bad),
		SCRATCH_TEST(test_bad_in_folder),  cmocka_unit_test(test_bad_condition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
