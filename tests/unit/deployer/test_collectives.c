/* SPDX-License-Identifier: MIT */
/* Which rank is behind, by what torch's watchdog over NCCL prints. */
#include "tests/unit/support.h"

#include "deployer/diagnosis/collectives.h"

/* Recorded with torch 2.11.0 on an H200; rank 1 slept instead of calling the second all_reduce. */
static const char waits[] =
	"[rank0]:[E1126 14:57:18.291564270 ProcessGroupNCCL.cpp:2303] [PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 2 PG status: last enqueued work: 2, last completed work: 1\n";
static const char sleeps[] =
	"[rank1]:[E1126 14:57:23.773639533 ProcessGroupNCCL.cpp:1849] [PG ID 0 PG GUID 0(default_pg) Rank 1] Observed flight recorder dump signal from another rank via TCPStore.\n"
	"[rank1]:[E1126 14:57:23.773790485 ProcessGroupNCCL.cpp:1914] [PG ID 0 PG GUID 0(default_pg) Rank 1] Received a dump signal due to a collective timeout from  rank 0 and we will try our best to dump the debug info. Last enqueued NCCL work: 1, last completed NCCL work: 1.This is most likely caused by incorrect usages of collectives\n";

struct said {
	int rank;
	const char *text;
};

static const char *behind(struct scratch *s, const struct said *said)
{
	struct collectives *all = collectives_new(&s->arena);

	for (; said->text; said++)
		collectives_feed(all, said->rank % 2 ? "node02" : "node01", said->rank, said->text);
	return collectives_behind(all, &s->arena);
}

static void test_the_rank_behind_is_named(void **state)
{
	assert_string_equal(
		behind(*state, (const struct said[]){{0, "begin\n"}, {0, waits}, {1, sleeps}, {0}}),
		"rank 1 on node02 is behind: it had queued 1 collective of NCCL, and others 2");
}

static void test_none_is_behind(void **state)
{
	assert_has(
		behind(*state, (const struct said[]){{0, waits}, {1, waits}, {0}}),
		"none of 2 ranks is behind: each had queued 2 collectives of NCCL; the last one differs");
	assert_string_equal(behind(*state, (const struct said[]){{0, waits}, {0, waits}, {0}}), "");
	assert_string_equal(behind(*state, (const struct said[]){{-1, waits}, {0, waits}, {0}}),
			    "");
}

static void test_only_one_group_counts(void **state)
{
	assert_string_equal(
		behind(*state,
		       (const struct said[]){
			       {0, waits},
			       {1,
				"[PG ID 2 PG GUID 7(mesh_tp) Rank 1] Last enqueued NCCL work: 900, last"},
			       {3,
				"[PG ID 0 PG GUID 0(default_pg) Rank 3] Last enqueued NCCL work: 2, last"},
			       {5,
				"[PG ID 0 PG GUID 0(default_pg) Rank 5] Last enqueued NCCL work: 0, last"},
			       {4,
				"[PG ID 0 PG GUID 0(default_pg) Rank 4] Last enqueued NCCL work: 0, last"},
			       {0}}),
		"rank 5 on node02, rank 4 on node01 are behind: they had queued 0 collectives of NCCL, and others 2");
}

static void test_hostile_lines(void **state)
{
	static const char *const texts[] = {
		"last enqueued work: 3",
		"[PG ID last enqueued work: 3",
		"[PG ID  Rank last enqueued work: 3",
		"[PG ID 0 Rank 1] last enqueued work: ",
		"[PG ID 0 Rank 1] last enqueued work: -4",
		"[PG ID 0 Rank 1] last enqueued work: 99999999999999999999999",
		"[PG ID 0 Rank 1] last enqueued last enqueued last enqueued ",
		"[PG ID 0000000000000000000000000000000000000000000000000000000000000000000000000 Rank 1] last enqueued work: 1",
	};
	struct scratch *s = *state;
	struct collectives *all = collectives_new(&s->arena);

	for (int rank = 0; rank < 10000; rank++)
		collectives_feed(all, "h", rank, texts[rank % ARRAY_LEN(texts)]);
	assert_true(strlen(collectives_behind(all, &s->arena)) < 300);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_the_rank_behind_is_named),
		SCRATCH_TEST(test_none_is_behind),
		SCRATCH_TEST(test_only_one_group_counts),
		SCRATCH_TEST(test_hostile_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
