/* SPDX-License-Identifier: MIT */
/* The column `when` of conflicts.csv: where it is split, and what each condition says. */
#include "tests/unit/support.h"

#include "resolver/conditions.h"

#define CONDITIONS_SHOWN 8

struct wanted {
	const char *text, *name, *versions;
	enum component component;
	bool needs, mistake;
};

static const struct {
	const char *when;
	size_t count;
	struct wanted list[CONDITIONS_SHOWN];
} rows[] = {
	{"", 0, {{0}}},
	{"horovod", 1, {{"horovod", "horovod", "", COMPONENT_HOROVOD, false, false}}},
	{"horovod<=0.28.1 & torch>=2.1",
	 2,
	 {{"horovod<=0.28.1", "horovod", "<=0.28.1", COMPONENT_HOROVOD, true, false},
	  {"torch>=2.1", "torch", ">=2.1", COMPONENT_TORCH, true, false}}},
	{"openmpi==2.1.3|==2.1.4&cuda>=10;<11  ",
	 2,
	 {{"openmpi==2.1.3|==2.1.4", "openmpi", "==2.1.3|==2.1.4", COMPONENT_OPENMPI, true, false},
	  {"cuda>=10;<11", "cuda", ">=10;<11", COMPONENT_CUDA, true, false}}},
	{"image==latest-gpu & driver<450",
	 2,
	 {{"image==latest-gpu", "image", "==latest-gpu", COMPONENT_NONE, true, false},
	  {"driver<450", "driver", "<450", COMPONENT_DRIVER, true, false}}},
	{"sm==12.0", 1, {{"sm==12.0", "sm", "==12.0", COMPONENT_GPU, true, false}}},
	{"nvidia-container-toolkit==1.17.7",
	 1,
	 {{"nvidia-container-toolkit==1.17.7", "nvidia-container-toolkit", "==1.17.7",
	   COMPONENT_NONE, true, false}}},
	{"openmpi=4.1.*", 1, {{"openmpi=4.1.*", "openmpi", "=4.1.*", COMPONENT_OPENMPI, 0, true}}},
	{"& ==1",
	 2,
	 {{"", "", "", COMPONENT_NONE, false, false},
	  {"==1", "", "==1", COMPONENT_NONE, true, false}}},
	/* there is no most of them */
	{"a & b & c & d & e & f & g",
	 7,
	 {{"a", "a", "", COMPONENT_NONE, false, false},
	  {"b", "b", "", COMPONENT_NONE, false, false},
	  {"c", "c", "", COMPONENT_NONE, false, false},
	  {"d", "d", "", COMPONENT_NONE, false, false},
	  {"e", "e", "", COMPONENT_NONE, false, false},
	  {"f", "f", "", COMPONENT_NONE, false, false},
	  {"g", "g", "", COMPONENT_NONE, false, false}}},
};

static void test_rows(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct conditions read;

		conditions_read(rows[i].when, &s->arena, &read);
		assert_int_equal(read.count, rows[i].count);
		for (size_t k = 0; k < read.count; k++) {
			const struct condition *got = &read.list[k];
			const struct wanted *wanted = &rows[i].list[k];

			assert_string_equal(got->text, wanted->text);
			assert_string_equal(got->name, wanted->name);
			assert_string_equal(got->versions, wanted->versions);
			assert_int_equal(got->component, wanted->component);
			assert_int_equal(got->needs != NULL, wanted->needs);
			assert_int_equal(got->mistake != NULL, wanted->mistake);
		}
	}
}

static void test_versions_and_mistakes(void **state)
{
	struct scratch *s = *state;
	struct conditions read;

	conditions_read("openmpi==2.1.3|==2.1.4 & cuda=11", &s->arena, &read);
	assert_true(needs_admit(read.list[0].needs, "2.1.4"));
	assert_false(needs_admit(read.list[0].needs, "2.1.5"));
	assert_has(read.list[1].mistake, "'=11' is no requirement cell");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_rows),
		SCRATCH_TEST(test_versions_and_mistakes),
	};

	return cmocka_run_group_tests_name("conditions", tests, NULL, NULL);
}
