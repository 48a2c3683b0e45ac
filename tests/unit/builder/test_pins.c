/* SPDX-License-Identifier: MIT */
/* The packages that come with a framework, as recipes/pins has them. */
#include "tests/unit/support.h"

#include "builder/recipe/pins.h"
#include "core/file.h"

#include <stdlib.h>

static struct choice tensorflow = {.name = "tensorflow",
				   .version = "2.11.1",
				   .pip = "tensorflow==2.11.1",
				   .index = "",
				   .sha256 = ""};
static struct choice torch = {
	.name = "torch", .version = "1.4.0", .pip = "torch==1.4.0", .index = "", .sha256 = ""};
static struct choice horovod = {.name = "horovod",
				.version = "0.27.0",
				.pip = "horovod==0.27.0",
				.index = "",
				.sha256 = "ab"};
static struct choice openmpi = {
	.name = "openmpi", .version = "4.1.4", .pip = "", .index = "", .sha256 = "ab"};

static void put_pins(struct scratch *s, const char *name, const char *text)
{
	const char *folder = arena_printf(&s->arena, "%s/recipes/pins", s->folder);
	struct error err = {0};

	assert_fine(folder_make(folder, 0700, &err));
	assert_fine(file_write(arena_printf(&s->arena, "%s/%s", folder, name), text, strlen(text),
			       0600, &err));
	setenv("RINGUP_SHARE", s->folder, 1);
}

static void put_all(struct scratch *s)
{
	put_pins(
		s, "tensorflow-2.11.1-py3.8.txt",
		"# tensorflow==2.11.1 with Python 3.8\n# glibc>=2.17\n"
		"absl-py==1.4.0 --hash=sha256:12\ntensorflow==2.11.1 --hash=sha256:34 --hash=sha256:56\n");
	put_pins(s, "tensorflow-and-cuda-2.15.1-py3.10.txt", "a==1 --hash=sha256:7\n");
	put_pins(s, "openmpi-needs-py3.8.txt", "b==2 --hash=sha256:8\n");
}

/* NAME of the values for a plan of these. */
static const char *pins(struct scratch *s, struct choice *choices, size_t count, const char *python,
			const char *glibc, const char *name)
{
	struct values *values = ARENA_NEW(&s->arena, struct values);
	struct plan *plan = ARENA_NEW(&s->arena, struct plan);
	struct error err = {0};

	put_all(s);
	plan->count = count;
	memcpy(plan->choices, choices, count * sizeof(*choices));
	values_set(values, "python.series", python);
	values_set(values, "glibc.version", glibc);
	assert_fine(pins_values(plan, &s->arena, values, &err));
	return values_get(values, name);
}

static void test_lines(void **state)
{
	struct choice choices[] = {openmpi, tensorflow, horovod};
	const char *text = pins(*state, choices, 3, "3.8", "2.31", "tensorflow.pins");

	assert_string_equal(text, "      'absl-py==1.4.0 --hash=sha256:12' \\\n"
				  "      'tensorflow==2.11.1 --hash=sha256:34 --hash=sha256:56'");
}

static void test_name_of_extras(void **state)
{
	struct choice choices[] = {tensorflow};

	choices[0].pip = "tensorflow[and-cuda]==2.15.1";
	assert_string_equal(pins(*state, choices, 1, "3.10", "2.35", "tensorflow.pins"),
			    "      'a==1 --hash=sha256:7'");
}

static void test_none(void **state)
{
	struct choice one[] = {tensorflow}, two[] = {tensorflow, torch}, other[] = {tensorflow};

	/* no file of that Python; wheels for a newer C library; sets that would undo each other */
	assert_string_equal(pins(*state, one, 1, "2.7", "2.31", "tensorflow.pins"), "");
	assert_string_equal(pins(*state, one, 1, "3.8", "2.12", "tensorflow.pins"), "");
	assert_string_equal(pins(*state, two, 2, "3.8", "2.31", "tensorflow.pins"), "");
	/* another place than PyPI */
	other[0].index = "https://example.org/whl";
	assert_string_equal(pins(*state, other, 1, "3.8", "2.31", "tensorflow.pins"), "");
	assert_string_equal(pins(*state, &openmpi, 1, "3.8", "2.31", "openmpi.pins"), "");
	assert_string_equal(pins(*state, &openmpi, 1, "3.8", "2.31", "openmpi.needs.pins"),
			    "      'b==2 --hash=sha256:8'");
	assert_string_equal(pins(*state, &openmpi, 1, "3.9", "2.31", "openmpi.needs.pins"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_lines),
		SCRATCH_TEST(test_name_of_extras),
		SCRATCH_TEST(test_none),
	};

	return cmocka_run_group_tests_name("pins", tests, NULL, NULL);
}
