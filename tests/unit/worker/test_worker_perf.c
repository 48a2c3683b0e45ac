/* SPDX-License-Identifier: MIT */
/* What the worker understands when it is called as a program of nccl-tests. */
#include "tests/unit/support.h"

#undef expect_check		       /* cmocka's; the worker has a function of that name */
#define failure_set worker_failure_set /* another folder has one, too */
#include "images/worker/collective/collective.c"
#include "images/worker/collective/dtype.c"
#include "images/worker/collective/pattern.c"
#include "images/worker/failure.c"
#include "images/worker/perf.c"
#include "images/worker/text.c"

static void names_of_programs(void **state)
{
	(void)state;
	assert_int_equal(perf_collective("all_reduce_perf"), ALL_REDUCE);
	assert_int_equal(perf_collective("/usr/local/bin/reduce_scatter_perf"), REDUCE_SCATTER);
	assert_int_equal(perf_collective("./reduce_perf_mpi"), REDUCE);
	assert_int_equal(perf_collective("alltoall_perf"), ALLTOALL);
	assert_int_equal(perf_collective("allreduce"), -1);
	assert_int_equal(perf_collective("all_reduce_perfect"), -1);
	assert_int_equal(perf_collective("all_reduce_perf/allreduce"), -1);
	assert_int_equal(perf_collective(""), -1);
}

/* The forms of run() in nccl-tests' src/common.cu. */
static void colors(void **state)
{
	static const struct {
		const char *words;
		int process, color;
	} cases[] = {
		{"AND 0x7", 13, 5}, {"&0b101", 7, 5}, {"or 4", 3, 7},	  {"|0", 6, 6},
		{"MOD 72", 73, 1},  {"%2", 5, 1},     {"DIV 0x8", 17, 2}, {"/ 3", 8, 2},
	};
	static const char *const bad[] = {"",	   "MOD",	   "MOD 0",  "/0",
					  "XOR 1", "MOD x",	   "AND 1x", "AND -1",
					  "2",	   "&99999999999", "DIV 0b", "MOD 2 2"};
	int color;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(perf_color(cases[i].words, cases[i].process, &color), 0);
		assert_int_equal(color, cases[i].color);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(perf_color(bad[i], 1, &color), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_of_programs),
		cmocka_unit_test(colors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
