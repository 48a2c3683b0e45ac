/* SPDX-License-Identifier: MIT */
/* Leases of GPUs: what a host says of them, and how ranks are spread over what is free. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/lease/allot.h"
#include "deployer/lease/lease.h"

#define ROOMS_MAX 5

static void test_allot(void **state)
{
	static const struct {
		int room[ROOMS_MAX], count, wanted;
		bool spread;
		int placed, ranks[ROOMS_MAX];
	} cases[] = {
		/* packed: the smallest host with room for all */
		{{8, 4, 2}, 3, 2, false, 2, {0, 0, 2}},
		{{8, 4, 2}, 3, 3, false, 3, {0, 3, 0}},
		{{8, 8}, 2, 3, false, 3, {3, 0}},
		/* none has: the largest whole, and what is left as above */
		{{4, 8, 2}, 3, 10, false, 10, {0, 8, 2}},
		{{4, 8, 2}, 3, 13, false, 13, {4, 8, 1}},
		{{4, 0, 2}, 3, 6, false, 6, {4, 0, 2}},
		{{4, 0, 2}, 3, 7, false, 6, {4, 0, 2}},
		/* spread: one to each in turn */
		{{8, 4, 2}, 3, 3, true, 3, {1, 1, 1}},
		{{8, 4, 1}, 3, 8, true, 8, {4, 3, 1}},
		{{0, 1}, 2, 5, true, 1, {0, 1}},
		{{0, 0}, 2, 1, false, 0, {0, 0}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int ranks[ROOMS_MAX];

		assert_int_equal(allot_ranks(cases[i].room, (size_t)cases[i].count, cases[i].wanted,
					     cases[i].spread, ranks),
				 cases[i].placed);
		for (int k = 0; k < cases[i].count; k++)
			assert_int_equal(ranks[k], cases[i].ranks[k]);
	}
}

static void test_answer(void **state)
{
	struct scratch *s = *state;
	struct lease_answer answer;

	lease_answer_parse(
		"scope=host\nlease=GPU-0 job 2026-11-25T01:37:01Z lab alice@desk train\n"
		"lease=GPU-1 job 2026-11-25T01:37:01Z lab alice@desk train\n"
		"lease=GPU-2 up 2026-11-25T01:00:00Z other bob@desk -\nprocess=GPU-3 4711 root\n"
		"gpu=0 GPU-0 leased\ngpu=1 GPU-1 leased\ngpu=2 GPU-2 outside\ngpu=3 GPU-3 used\n"
		"gpu=4 GPU-4 free\nticket=2 lab bob@desk next\nqueue=1\ntaken=GPU-4,GPU-5\n",
		&s->arena, &answer);
	assert_true(answer.is_host_wide);
	assert_int_equal(lease_gpus_total(&answer), 4);
	assert_int_equal(lease_gpus_free(&answer), 1);
	assert_int_equal(answer.queue, 1);
	assert_int_equal(answer.taken.count, 2);
	assert_string_equal(answer.tickets[0].job, "next");
	assert_string_equal(
		lease_holders_text(&answer, &s->arena),
		"GPU 0,1: job train of cluster lab (alice@desk) since 2026-11-25T01:37:01Z; "
		"GPU 3: process 4711 of root, without a lease");
	assert_string_equal(lease_gpu_holder(&answer, &answer.gpus[2], &s->arena),
			    "the container of cluster other (bob@desk) since 2026-11-25T01:00:00Z");
}

/* What a host should not say, and what is made of it. */
static void test_hostile_answer(void **state)
{
	struct scratch *s = *state;
	struct lease_answer answer;
	_cleanup_(str_release) struct str many = STR_INIT;

	lease_answer_parse("", &s->arena, &answer);
	assert_int_equal(answer.gpu_count + answer.holder_count + answer.taken.count, 0);
	lease_answer_parse(
		"gpu=0 GPU-0\ngpu=\ngpu=0 GPU-0 mine\ngpu=1 \x1b[2J free\nlease=\nlease=GPU-0 job\n"
		"taken=GPU-0;reboot,,GPU-1 x,GPU-2\nqueue=-5\n",
		&s->arena, &answer);
	assert_int_equal(answer.gpu_count, 0);
	assert_int_equal(answer.holder_count, 0);
	assert_int_equal(answer.queue, 0);
	assert_int_equal(answer.taken.count, 1);
	assert_string_equal(answer.taken.list[0], "GPU-2");
	for (int i = 0; i < 3 * LEASE_GPUS_MAX; i++)
		str_addf(&many, "gpu=%d GPU-%d free\nlease=GPU-%d job now a b c\ntaken=GPU-%d\n", i,
			 i, i, i);
	lease_answer_parse(many.text, &s->arena, &answer);
	assert_int_equal(answer.gpu_count, LEASE_GPUS_MAX);
	assert_int_equal(answer.holder_count, LEASE_GPUS_MAX);
	assert_int_equal(answer.taken.count, LEASE_GPUS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_allot),
		SCRATCH_TEST(test_answer),
		SCRATCH_TEST(test_hostile_answer),
	};

	return cmocka_run_group_tests_name("lease", tests, NULL, NULL);
}
