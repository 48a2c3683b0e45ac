/* SPDX-License-Identifier: MIT */
/* What `gpus` may say, and what it means on a host. */
#include "tests/unit/support.h"

#include "plan/gpu_wish.h"

#define UUID "GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f"
#define OTHER "GPU-00000000-d268-c3f3-1b07-005d5ae1dc3f"
#define MIG "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f"

static const struct facts four = {
	.gpus = "T4;T4;T4;T4", .gpu_uuids = "GPU-aaaa;" UUID ";GPU-bbbb;GPU-cccc", .gpu_parts = ""};

static void test_forms(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text;
		enum gpu_wish_kind kind;
		const char *devices;
		size_t count; /* on a host with four */
	} cases[] = {
		{"all", GPU_ALL, "all", 4},
		{"none", GPU_NONE, "", 0},
		{"1", GPU_COUNT, "0", 1},
		{"4", GPU_COUNT, "0,1,2,3", 4},
		{"16", GPU_COUNT, "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15", 4},
		{"0,1", GPU_LIST, "0,1", 2},
		{"3, 0", GPU_LIST, "3,0", 2},
		{"device=3", GPU_LIST, "3", 1},
		{"device=0,2", GPU_LIST, "0,2", 2},
		{"9,10", GPU_LIST, "9,10", 0},
		{UUID, GPU_LIST, UUID, 1},
		{UUID "," OTHER, GPU_LIST, UUID "," OTHER, 1},
		{MIG, GPU_LIST, MIG, 1},
		{"MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/1/0", GPU_LIST,
		 "MIG-GPU-5c89852c-d268-c3f3-1b07-005d5ae1dc3f/1/0", 1},
		{"0:0,0:1", GPU_LIST, "0:0,0:1", 2},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct gpu_wish wish;
		struct error err = {0};

		assert_fine(gpu_wish_parse(cases[i].text, &s->arena, &wish, &err));
		assert_int_equal(wish.kind, cases[i].kind);
		assert_string_equal(gpu_wish_text(&wish, &s->arena), cases[i].devices);
		assert_int_equal(gpu_wish_count(&wish, &four), cases[i].count);
	}
}

static void test_bad_forms(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"abc", "'abc' names no GPUs"},
		{"", "a list such as 0,1"},
		{"0", "device=0"},
		{"0-3", "0,1,2,3"},
		{"0,", "names no GPUs"},
		{"0,,1", "names no GPUs"},
		{"0,0", "names the GPU 0 twice"},
		{UUID "," UUID, "twice"},
		{"-1", "names no GPUs"},
		{"257", "names no GPUs"},
		{"1000", "names no GPUs"},
		{"all,0", "names no GPUs"},
		{"device=", "names no GPUs"},
		{"device=all", "names no GPUs"},
		{"GPU-", "names no GPUs"},
		{"GPU-5c8;rm", "names no GPUs"},
		{"0:1:2", "names no GPUs"},
		{"0\"", "names no GPUs"},
		{"1.5", "names no GPUs"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct gpu_wish wish;
		struct error err = {0};

		assert_fails(gpu_wish_parse(cases[i].text, &s->arena, &wish, &err), ERROR_USAGE,
			     cases[i].says);
	}
}

/* A host must have what is asked for. Nothing is known of its MIG devices. */
static void test_check(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *says; /* NULL: it is there */
	} cases[] = {
		{"all", NULL},
		{"none", NULL},
		{"4", NULL},
		{"3,0", NULL},
		{UUID, NULL},
		{MIG, NULL},
		{"0:1", NULL},
		{"5", "5 GPUs are asked for, and the host has 4"},
		{"9,10", "the GPU 9 is asked for"},
		{"0,4", "the GPU 4 is asked for"},
		{OTHER, "the GPU " OTHER " is asked for"},
		{"GPU-5c89", "the GPU GPU-5c89 is asked for"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct gpu_wish wish;
		struct error err = {0};

		assert_fine(gpu_wish_parse(cases[i].text, &s->arena, &wish, &err));
		if (!cases[i].says)
			assert_fine(gpu_wish_check(&wish, &four, &err));
		else
			assert_fails(gpu_wish_check(&wish, &four, &err), ERROR_FAILED,
				     cases[i].says);
	}
}

/* The form of NVIDIA's MIG user guide, "Getting Started with MIG". */
static void test_check_parts(void **state)
{
	struct scratch *s = *state;
	static const struct facts two = {.gpus = "A100-SXM4-40GB",
					 .gpu_uuids = "GPU-e86cb44c",
					 .gpu_parts = "0:0 MIG-c7384736;0:1 " MIG},
				  whole = {.gpus = "A100-SXM4-40GB",
					   .gpu_uuids = "GPU-e86cb44c",
					   .gpu_parts = "none"};
	static const struct {
		const char *text;
		size_t count;
		const char *says, *says_whole;
	} cases[] = {
		{"0:0", 1, NULL,
		 "the MIG device 0:0 is asked for, and the host does not have it: it has none"},
		{"0:0,0:1", 2, NULL, "0:0 is asked for"},
		{MIG, 1, NULL, "is asked for"},
		{"0:2", 0,
		 "the MIG device 0:2 is asked for, and the host does not have it: it has 0:0 MIG-c7384736;0:1 ",
		 "0:2 is asked for"},
		{"0:", 0, "names no GPUs", "names no GPUs"},
		{"MIG-c738", 0, "MIG-c738 is asked for", "is asked for"},
		{"MIG-c7384736,MIG-aaaa", 1, "MIG-aaaa is asked for", "is asked for"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct gpu_wish wish;
		struct error err = {0};

		if (gpu_wish_parse(cases[i].text, &s->arena, &wish, &err) < 0) {
			assert_non_null(strstr(err.text, cases[i].says));
			continue;
		}
		assert_int_equal(gpu_wish_count(&wish, &two), cases[i].count);
		if (!cases[i].says)
			assert_fine(gpu_wish_check(&wish, &two, &err));
		else
			assert_fails(gpu_wish_check(&wish, &two, &err), ERROR_FAILED,
				     cases[i].says);
		err = (struct error){0};
		assert_fails(gpu_wish_check(&wish, &whole, &err), ERROR_FAILED,
			     cases[i].says_whole);
	}
}

static void test_count(void **state)
{
	static const struct facts none = {.gpus = "", .gpu_uuids = "", .gpu_parts = ""},
				  one = {.gpus = "T4", .gpu_uuids = "GPU-a", .gpu_parts = ""};

	(void)state;
	assert_int_equal(gpu_count(&none), 0);
	assert_int_equal(gpu_count(&one), 1);
	assert_int_equal(gpu_count(&four), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_forms), SCRATCH_TEST(test_bad_forms),
		SCRATCH_TEST(test_check), SCRATCH_TEST(test_check_parts),
		SCRATCH_TEST(test_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
