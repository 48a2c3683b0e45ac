/* SPDX-License-Identifier: MIT */
/* The packages that a component needs beside it, as companion.csv has them. */
#include "tests/unit/support.h"

#include "builder/recipe/companions.h"

#define HEAD "id,component,kind,versions,python,words,note,certainty,source\n"
#define SOURCE ",,documented,test\n"

static int values_of(struct scratch *s, const char *rows, const char *version, const char *python,
		     struct values *values, struct error *err)
{
	struct catalog *catalog = ARENA_NEW(&s->arena, struct catalog);
	struct plan *plan = ARENA_NEW(&s->arena, struct plan);

	put(s, "c/os.csv", "version,os,run_packages,build_packages,note,certainty,source\n");
	put(s, "c/companion.csv", arena_printf(&s->arena, HEAD "%s", rows));
	assert_int_equal(catalog_load(in(s, "c"), &s->arena, catalog, err), 0);
	plan->count = 1;
	plan->choices[0] = (struct choice){.name = "tensorflow", .version = version};
	values_set(values, "python.version", python);
	return companions_values(plan, catalog, &s->arena, values, err);
}

static const char *with(struct scratch *s, const char *rows, const char *version,
			const char *python)
{
	struct values *values = ARENA_NEW(&s->arena, struct values);
	struct error err = {0};

	assert_fine(values_of(s, rows, version, python, values, &err));
	return values_get(values, "tensorflow.with");
}

static void test_words(void **state)
{
	static const char rows[] =
		"a,tensorflow,with,<2.12,>=3.7,protobuf==3.19.6;numpy<1.24" SOURCE
		"b,torch,with,,,of=another" SOURCE "c,tensorflow,needs,,,of=another-kind" SOURCE
		"d,tensorflow,with,>=2.6;<2.7,,keras==2.6.0" SOURCE
		"e,tensorflow,with,,==2.7.*|==3.5.*,--only-binary;grpcio" SOURCE;
	struct scratch *s = *state;

	assert_string_equal(with(s, rows, "2.6.1", "3.8"),
			    " protobuf==3.19.6 'numpy<1.24' keras==2.6.0");
	assert_string_equal(with(s, rows, "2.6.1", "3.6"), " keras==2.6.0");
	assert_string_equal(with(s, rows, "1.12.0", "3.5.2"), " --only-binary grpcio");
	assert_string_equal(with(s, rows, "2.12.0", "3.11"), "");
	/* without a Python, rows about Pythons do not hold */
	assert_string_equal(with(s, rows, "2.6.1", ""), " keras==2.6.0");
	assert_string_equal(with(s, "", "2.6.1", "3.8"), "");
}

/* These words stand in a RUN. */
static void test_words_are_quoted(void **state)
{
	assert_string_equal(
		with(*state, "a,tensorflow,with,,,$(id);it's;a b" SOURCE, "2.6.1", "3.8"),
		" '$(id)' 'it'\\''s' 'a b'");
}

static void test_bad_cell(void **state)
{
	struct scratch *s = *state;
	struct values *values = ARENA_NEW(&s->arena, struct values);
	struct error err = {0};

	assert_fails(values_of(s, "a,tensorflow,with,two,,x" SOURCE, "2.6.1", "3.8", values, &err),
		     ERROR_USAGE, "companion.csv:2: versions");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_words),
		SCRATCH_TEST(test_words_are_quoted),
		SCRATCH_TEST(test_bad_cell),
	};

	return cmocka_run_group_tests_name("companions", tests, NULL, NULL);
}
