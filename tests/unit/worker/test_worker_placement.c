/* SPDX-License-Identifier: MIT */
/* Whether ranks crowd their machine: what counts is all the cores that any of its ranks may use. */
#include "tests/unit/support.h"

#define failure_set worker_failure_set /* another folder has one, too */
#include "images/worker/host/placement.c"

int control_gather(struct control *control, const void *part, size_t bytes, void *all,
		   struct failure *err)
{
	(void)control;
	(void)part;
	(void)bytes;
	(void)all;
	(void)err;
	return -1;
}

int control_share(struct control *control, void *data, size_t bytes, struct failure *err)
{
	(void)control;
	(void)data;
	(void)bytes;
	(void)err;
	return -1;
}

#define WORLD 8

static struct member members[WORLD];
static const struct group group = {.world = WORLD, .members = members};

/* Whether ranks 0 and 7 are crowded, if rank r may use @count cores from number @first + r * @step on, and the ranks from
 * @away on are on another machine. */
static void expect_crowded(int first, int step, int count, int away, bool here, bool there)
{
	cpu_set_t cores[WORLD];
	uint8_t crowded[WORLD];

	for (int rank = 0; rank < WORLD; rank++) {
		CPU_ZERO(&cores[rank]);
		for (int i = 0; i < count; i++)
			CPU_SET((size_t)(first + rank * step + i), &cores[rank]);
		snprintf(members[rank].kernel, sizeof(members[rank].kernel),
			 rank < away ? "a" : "b");
	}
	placement_judge(&group, cores, crowded);
	assert_int_equal(crowded[0], here);
	assert_int_equal(crowded[WORLD - 1], there);
}

static void all_share_all_cores(void **state)
{
	(void)state;
	expect_crowded(0, 0, 8, WORLD, false, false);
	expect_crowded(0, 0, 7, WORLD, true, true);
	expect_crowded(0, 0, 4, 4, false, false);
	expect_crowded(0, 0, 4, 5, true, false);
}

static void a_launcher_binds_each_rank(void **state)
{
	(void)state;
	expect_crowded(0, 2, 2, WORLD, false, false);
	expect_crowded(0, 1, 1, WORLD, false, false);
	expect_crowded(0, 1, 1, 3, false, false);
}

static void all_are_bound_to_one_core(void **state)
{
	(void)state;
	expect_crowded(3, 0, 1, WORLD, true, true);
	expect_crowded(3, 0, 1, 1, false, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_share_all_cores),
		cmocka_unit_test(a_launcher_binds_each_rank),
		cmocka_unit_test(all_are_bound_to_one_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
