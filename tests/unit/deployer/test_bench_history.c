/* SPDX-License-Identifier: MIT */
/* How a run of the worker compares with those before it, and which ones are kept. */
#include "tests/unit/support.h"

#include "deployer/bench/bench_history.h"

#define WEEK_AGO "2026-11-18T12:00:00Z"

static struct report report_of(double busbw)
{
	static struct report_row rows[2];
	static struct report_rank ranks[] = {{0, "a"}, {1, "a"}, {2, "b"}};

	rows[0] = (struct report_row){.bytes = 8, .busbw = 0.1, .type = "f32", .op = "sum"};
	rows[1] = (struct report_row){.bytes = 1024, .busbw = busbw, .type = "f32", .op = "sum"};
	return (struct report){.verdict = "pass",
			       .reason = "",
			       .backend = "nccl",
			       .collective = "all_reduce",
			       .launcher = "ssh",
			       .world = 3,
			       .rows = rows,
			       .row_count = 2,
			       .ranks = ranks,
			       .rank_count = 3};
}

static void add(cJSON *documents, double busbw, const char *when)
{
	struct report report = report_of(busbw);

	cJSON_AddItemToArray(documents, bench_history_record(&report, when));
}

static struct bench_past compared(struct scratch *s, const cJSON *documents, double busbw)
{
	struct report report = report_of(busbw);
	_cleanup_(json_free) cJSON *record = bench_history_record(&report, "2026-11-25T12:00:00Z");
	struct bench_past past;

	bench_history_compare(documents, record, WEEK_AGO, &s->arena, &past);
	return past;
}

static void test_nothing_before(void **state)
{
	_cleanup_(json_free) cJSON *documents = cJSON_Parse("[{}, 7, {\"time\": 3}, \"x\"]");
	struct bench_past past = compared(*state, documents, 10);

	assert_int_equal(past.runs, 0);
	assert_false(past.slower);
	assert_string_equal(bench_history_sentence(&past, &((struct scratch *)*state)->arena), "");
}

static void test_median_and_week(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *documents = cJSON_CreateArray(), *other;
	struct bench_past past;

	add(documents, 40, "2026-11-10T09:00:00Z");
	add(documents, 41, "2026-11-18T09:00:00Z");
	add(documents, 10, "2026-11-20T09:00:00Z");
	other = cJSON_Duplicate(cJSON_GetArrayItem(documents, 0), true);
	cJSON_ReplaceItemInObject(other, "backend", cJSON_CreateString("cpu"));
	cJSON_AddItemToArray(documents, other);
	other = NULL;
	past = compared(s, documents, 36.9);
	assert_int_equal(past.runs, 3);
	assert_true(past.median > 39.9 && past.median < 40.1);
	assert_string_equal(past.since, "2026-11-10T09:00:00Z");
	assert_true(past.week_ago > 40.9 && past.week_ago < 41.1);
	assert_false(past.slower);
	assert_string_equal(
		bench_history_sentence(&past, &s->arena),
		"busbw 36.9 GB/s is 92 % of the median of the last 3 such runs (40, since 2026-11-10) and 90 % of that of 2026-11-18 (41)");
	assert_true(compared(s, documents, 36.8).slower); /* than a week ago */
	assert_true(compared(s, documents, 35).slower);
}

static const char *kept(struct scratch *s, const struct cluster *cluster, const char *name)
{
	return arena_printf(&s->arena, "%s/%s",
			    cluster_state_path(cluster, "history/bench", &s->arena), name);
}

/* Two runs may differ by chance; and only the last ten count. */
static void test_few_and_many(void **state)
{
	_cleanup_(json_free) cJSON *documents = cJSON_CreateArray();
	struct bench_past past;

	add(documents, 100, "2026-11-24T09:00:00Z");
	add(documents, 100, "2026-11-24T10:00:00Z");
	assert_false(compared(*state, documents, 1).slower);
	for (int i = 0; i < 10; i++)
		add(documents, 1, "2026-11-24T11:00:00Z");
	past = compared(*state, documents, 1);
	assert_int_equal(past.runs, 10);
	assert_true(past.median < 1.01);
	assert_false(past.slower);
}

static void test_kept(void **state)
{
	struct scratch *s = *state;
	const struct cluster cluster = {.folder = s->folder};
	struct report good = report_of(10), bad = report_of(5);
	struct error err = {0};
	struct bench_past past;

	assert_int_equal(bench_history_keep(&cluster, &good, &s->arena, &past, &err), 0);
	assert_int_equal(past.runs, 0);
	bad.verdict = "slow";
	assert_int_equal(bench_history_keep(&cluster, &bad, &s->arena, &past, &err), 0);
	assert_int_equal(past.runs, 1);
	assert_true(file_exists(kept(s, &cluster, "000001.json")));
	assert_false(file_exists(kept(s, &cluster, "000002.json")));
	/* one that is no JSON is passed over, and the oldest one goes */
	assert_int_equal(file_write(kept(s, &cluster, "000500.json"), "{", 1, 0600, &err), 0);
	assert_int_equal(bench_history_keep(&cluster, &good, &s->arena, &past, &err), 0);
	assert_int_equal(past.runs, 1);
	assert_true(file_exists(kept(s, &cluster, "000501.json")));
	assert_false(file_exists(kept(s, &cluster, "000001.json")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_nothing_before),
		SCRATCH_TEST(test_median_and_week),
		SCRATCH_TEST(test_few_and_many),
		SCRATCH_TEST(test_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
