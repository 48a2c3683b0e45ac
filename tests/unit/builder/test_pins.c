/* SPDX-License-Identifier: MIT */
/* The packages that come with a framework, as recipes/wheels has them. */
#include "tests/unit/support.h"

#include "builder/recipe/pins.h"
#include "core/file.h"

#include <stdlib.h>

#define SUM(digit)                                                                                \
	digit digit digit digit digit digit digit digit digit digit digit digit digit digit digit \
		digit digit digit digit digit digit digit digit digit digit digit digit digit     \
			digit digit digit digit
#define A SUM("a1")
#define B SUM("b2")
#define C SUM("c3")

static struct choice tensorflow = {.name = "tensorflow",
				   .version = "2.11.1",
				   .pip = "tensorflow==2.11.1",
				   .index = "",
				   .sha256 = "",
				   .wheel = ""};
static struct choice torch = {.name = "torch",
			      .version = "1.4.0",
			      .pip = "torch==1.4.0",
			      .index = "",
			      .sha256 = "",
			      .wheel = ""};
static struct choice horovod = {.name = "horovod",
				.version = "0.27.0",
				.pip = "horovod==0.27.0",
				.index = "",
				.sha256 = "ab",
				.wheel = ""};
static struct choice openmpi = {
	.name = "openmpi", .version = "4.1.4", .pip = "", .index = "", .sha256 = "ab", .wheel = ""};

static const char PACKAGES[] = "# what there is\n"
			       "name,version,build,sha256\n"
			       "absl-py,1.4.0,," A "\n"
			       "b,2,," A "\n"
			       "b,2,2," B "\n"
			       "b,2,22," C "\n"
			       "b,22,," C "\n"
			       "tensorflow,2.11.1,," B ";" C "\n";
static const char SETS[] = "for,python,glibc,asked,packages\n"
			   "openmpi-needs,3.8,2.17,,b==2:2\n"
			   "tensorflow==2.11.1,3.8,2.17,2023-09-01,absl-py==1.4.0;b==2;"
			   "tensorflow==2.11.1\n"
			   "tensorflow[and-cuda]==2.15.1,3.10,,,absl-py==1.4.0\n";

static void put_wheels(struct scratch *s, const char *name, const char *text)
{
	put(s, arena_printf(&s->arena, "share/recipes/wheels/%s.csv", name), text);
	setenv("RINGUP_SHARE", in(s, "share"), 1);
}

static void put_tables(struct scratch *s)
{
	put_wheels(s, "packages", PACKAGES);
	put_wheels(s, "sets", SETS);
}

/* pins_values for a plan of these. */
static int pins_of(struct scratch *s, struct choice *choices, size_t count, const char *python,
		   const char *glibc, struct values *values, struct error *err)
{
	struct plan *plan = ARENA_NEW(&s->arena, struct plan);

	plan->count = count;
	memcpy(plan->choices, choices, count * sizeof(*choices));
	values_set(values, "python.series", python);
	values_set(values, "glibc.version", glibc);
	return pins_values(plan, &s->arena, values, err);
}

/* NAME of the values for a plan of these. */
static const char *pins(struct scratch *s, struct choice *choices, size_t count, const char *python,
			const char *glibc, const char *name)
{
	struct values *values = ARENA_NEW(&s->arena, struct values);
	struct error err = {0};

	put_tables(s);
	assert_fine(pins_of(s, choices, count, python, glibc, values, &err));
	return values_get(values, name);
}

static void test_lines(void **state)
{
	struct choice choices[] = {openmpi, tensorflow, horovod};
	const char *text = pins(*state, choices, 3, "3.8", "2.31", "tensorflow.pins");

	assert_string_equal(text,
			    "      'absl-py==1.4.0 --hash=sha256:" A "' \\\n"
			    "      'b==2 --hash=sha256:" A "' \\\n"
			    "      'tensorflow==2.11.1 --hash=sha256:" B " --hash=sha256:" C "'");
}

static void test_name_of_extras(void **state)
{
	struct choice choices[] = {tensorflow};

	choices[0].pip = "tensorflow[and-cuda]==2.15.1";
	assert_string_equal(pins(*state, choices, 1, "3.10", "2.35", "tensorflow.pins"),
			    "      'absl-py==1.4.0 --hash=sha256:" A "'");
}

static void test_none(void **state)
{
	struct choice one[] = {tensorflow}, two[] = {tensorflow, torch}, other[] = {tensorflow};

	/* no set of that Python; wheels for a newer C library; sets that would undo each other */
	assert_string_equal(pins(*state, one, 1, "2.7", "2.31", "tensorflow.pins"), "");
	assert_string_equal(pins(*state, one, 1, "3.8", "2.12", "tensorflow.pins"), "");
	assert_string_equal(pins(*state, two, 2, "3.8", "2.31", "tensorflow.pins"), "");
	/* another place than PyPI */
	other[0].index = "https://example.org/whl";
	assert_string_equal(pins(*state, other, 1, "3.8", "2.31", "tensorflow.pins"), "");
	assert_string_equal(pins(*state, &openmpi, 1, "3.8", "2.31", "openmpi.pins"), "");
	assert_string_equal(pins(*state, &openmpi, 1, "3.9", "2.31", "openmpi.needs.pins"), "");
}

/* Of one version, Pythons of different age take different files. */
static void test_build(void **state)
{
	assert_string_equal(pins(*state, &openmpi, 1, "3.8", "2.31", "openmpi.needs.pins"),
			    "      'b==2 --hash=sha256:" B "'");
}

/* What a set refers to is in the other table, letter by letter. */
static void test_unknown_reference(void **state)
{
	static const char *const words[] = {
		"c==1",	    "b==3",  "b==2:3", "b==2:", "b",   "b==", "absl-py", "absl-py==1.4",
		"b==2:222", "b==2=", "b=2",    "B==2",	"==2", ":2",  "b==2@2"};
	struct scratch *s = *state;

	put_tables(s);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		struct values *values = ARENA_NEW(&s->arena, struct values);
		struct error err = {0};

		put_wheels(s, "sets",
			   arena_printf(&s->arena,
					"for,python,glibc,asked,packages\n"
					"openmpi-needs,3.8,,,b==2;%s\n",
					words[i]));
		assert_fails(pins_of(s, &openmpi, 1, "3.8", "2.31", values, &err), ERROR_USAGE,
			     arena_printf(&s->arena, "sets.csv:2: '%s' is not in ", words[i]));
		assert_has(err.text, "packages.csv");
		assert_string_equal(values_get(values, "openmpi.needs.pins"), "");
	}
}

/* The words stand in single quotes in a Dockerfile: nothing gets out of them. */
static void test_hostile_package(void **state)
{
	static const struct {
		const char *name, *version, *sums;
	} cases[] = {
		{"b", "2", ""},	       {"b", "2", "abcd"},
		{"b", "2", A ";"},     {"b", "2", ";" A},
		{"b", "2", A ";;" B},  {"b", "2", A " " B},
		{"b", "2", SUM("A1")}, {"b", "2", A "00"},
		{"b", "2';id;'", A},   {"b", "2 --index-url http://x", A},
		{"b", "", A},	       {"b'", "2", A},
		{"b\\", "2", A},       {"b[x]", "2", A},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct values *values = ARENA_NEW(&s->arena, struct values);
		struct error err = {0};

		put_wheels(s, "packages",
			   arena_printf(&s->arena, "name,version,build,sha256\n%s,%s,,%s\n",
					cases[i].name, cases[i].version, cases[i].sums));
		/* a reference may not hold a ';', so the row is asked for by what stands before it */
		put_wheels(s, "sets",
			   arena_printf(&s->arena,
					"for,python,glibc,asked,packages\n"
					"openmpi-needs,3.8,,,%s==%s\n",
					cases[i].name, cases[i].version));
		assert_int_equal(pins_of(s, &openmpi, 1, "3.8", "2.31", values, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_has(err.text, ".csv:2: ");
		assert_string_equal(values_get(values, "openmpi.needs.pins"), "");
	}
}

static void test_large_set(void **state)
{
	struct scratch *s = *state;
	struct values *values = ARENA_NEW(&s->arena, struct values);
	_cleanup_(str_release) struct str text = STR_INIT;
	struct error err = {0};

	str_add(&text, "for,python,glibc,asked,packages\nopenmpi-needs,3.8,,,b==2");
	for (int i = 0; i < 600; i++)
		str_add(&text, ";b==2");
	str_add_char(&text, '\n');
	put_tables(s);
	put_wheels(s, "sets", text.text);
	assert_fails(pins_of(s, &openmpi, 1, "3.8", "2.31", values, &err), ERROR_USAGE,
		     "sets.csv:2: more than 512 packages");
}

/* Checksums are read only for a plan that has a set. */
static void test_tables_that_are_missing(void **state)
{
	struct scratch *s = *state;
	struct values *values = ARENA_NEW(&s->arena, struct values);
	struct error err = {0};

	put_wheels(s, "sets", SETS);
	assert_fine(pins_of(s, &openmpi, 1, "3.9", "2.31", values, &err));
	assert_fails(pins_of(s, &openmpi, 1, "3.8", "2.31", values, &err), ERROR_FAILED,
		     "recipes/wheels/packages.csv");
	setenv("RINGUP_SHARE", in(s, "none"), 1);
	assert_fails(pins_of(s, &openmpi, 1, "3.9", "2.31", values, &err), ERROR_FAILED,
		     "recipes/wheels/sets.csv");
}

/* Every set of the real tables is whole, whatever the reader does with it. */
static void test_real_tables(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct table sets;
	size_t lines = 0;

	unsetenv("RINGUP_SHARE");
	assert_fine(
		table_load(arena_printf(&s->arena, "%s/recipes/wheels/sets.csv", source_root(s)),
			   &s->arena, &sets, &err));
	setenv("RINGUP_SHARE", source_root(s), 1);
	for (size_t row = 0; row < sets.row_count; row++) {
		struct values *values = ARENA_NEW(&s->arena, struct values);
		struct choice choice = {.name = "x", .index = "", .sha256 = "", .wheel = ""};
		const char *text;

		if (row % 40 != 0) /* a look at each 40th: each reads both tables */
			continue;
		choice.pip = table_cell(&sets, row, "for");
		assert_fine(pins_of(s, &choice, 1, table_cell(&sets, row, "python"), "9.0", values,
				    &err));
		text = values_get(values, "x.pins");
		assert_has(text, " --hash=sha256:");
		lines += strlen(text);
	}
	assert_true(lines > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_lines),
		SCRATCH_TEST(test_name_of_extras),
		SCRATCH_TEST(test_none),
		SCRATCH_TEST(test_build),
		SCRATCH_TEST(test_unknown_reference),
		SCRATCH_TEST(test_hostile_package),
		SCRATCH_TEST(test_large_set),
		SCRATCH_TEST(test_tables_that_are_missing),
		SCRATCH_TEST(test_real_tables),
	};

	return cmocka_run_group_tests_name("pins", tests, NULL, NULL);
}
