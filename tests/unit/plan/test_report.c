/* SPDX-License-Identifier: MIT */
/* The worker's report: real documents (tests/golden/report) read, and kept whole. */
#include "tests/unit/support.h"

#include "plan/report.h"

static cJSON *parse(const char *text)
{
	struct error err = {0};
	cJSON *json = NULL;

	assert_fine(json_parse(text, strlen(text), "test", &json, &err));
	return json;
}

static cJSON *recorded(struct scratch *s, const char *name)
{
	return parse(slurp(s, arena_printf(&s->arena, "%s/tests/golden/report/%s.json",
					   source_root(s), name)));
}

static void test_slow(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = recorded(s, "slow");
	struct report report;
	struct error err = {0};

	assert_fine(report_from_json(json, &s->arena, &report, &err));
	assert_string_equal(report.verdict, "slow");
	assert_string_equal(report.backend, "cpu");
	assert_int_equal(report.world, 4);
	assert_int_equal(report.row_count, 4);
	assert_true(report.rows[3].bytes == 1048576 && report.rows[3].inplace);
	assert_string_equal(report.rows[3].type, "f32");
	assert_int_equal(report.rank_count, 4);
	assert_string_equal(report.ranks[3].host, "node01");
	assert_int_equal(report.pairs.world, 4);
	assert_true(report.pairs.usec[0] == 0);
	assert_true(report.pairs.usec[1 * 4 + 2] == 40.2);
	assert_int_equal(report.pairs.left_out, -1);
	assert_int_equal(report.pairs.finding_count, 1);
	assert_has(report.pairs.findings[0], "between rank 1 (node01) and rank 2 (node01) is slow");
	assert_int_equal(report.sgd.run_count, 0);
	assert_null(report.expected.because);
	assert_int_equal(report_hosts(&report), 1);
	assert_true(report_peak(&report) == report.rows[3].busbw);
}

static void test_sgd(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = recorded(s, "sgd");
	struct report report;
	struct error err = {0};

	assert_fine(report_from_json(json, &s->arena, &report, &err));
	assert_int_equal(report.sgd.steps, 20);
	assert_int_equal(report.sgd.run_count, 4);
	assert_string_equal(report.sgd.weights, "65ce12b008595ccb");
	assert_string_equal(report.sgd.runs[1].name, "sum");
	assert_int_equal(report.sgd.runs[1].learners, 2);
	assert_true(report.sgd.runs[1].communication == 0.0362);
	assert_int_equal(report.pairs.finding_count, 0);
}

/* Everything of `part` is in `whole`, with the same value; what ringup puts in is no loss. */
static void assert_kept(const cJSON *part, const cJSON *whole, const char *path)
{
	const cJSON *item, *other = whole ? whole->child : NULL;

	if (!whole || (part->type & 0xff) != (whole->type & 0xff))
		fail_msg("%s is lost", path);
	if (cJSON_IsArray(part))
		assert_int_equal(cJSON_GetArraySize(part), cJSON_GetArraySize(whole));
	if (!cJSON_IsArray(part) && !cJSON_IsObject(part) && !cJSON_Compare(part, whole, true))
		fail_msg("%s is another", path);
	cJSON_ArrayForEach (item, part) {
		assert_kept(item, item->string ? json_member(whole, item->string) : other,
			    item->string ? item->string : path);
		other = other ? other->next : NULL;
	}
}

static void test_nothing_is_lost(void **state)
{
	struct scratch *s = *state;
	static const char *const names[] = {"slow", "sgd"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_(json_free) cJSON *json = recorded(s, names[i]);
		_cleanup_(json_free) cJSON *before = cJSON_Duplicate(json, true);
		struct report report;
		struct error err = {0};

		assert_fine(report_from_json(json, &s->arena, &report, &err));
		report.launcher = "ssh";
		report_complete(&report, json);
		assert_kept(before, json, names[i]);
		assert_int_equal(cJSON_GetArraySize(json), cJSON_GetArraySize(before) + 2);
		assert_string_equal(json_member(json, "launcher")->valuestring, "ssh");
		assert_true(cJSON_IsNull(json_member(json, "expected")));
		assert_int_equal(cJSON_GetArraySize(json_member(json, "notes")), 0);
	}
}

static void test_completed(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = recorded(s, "slow");
	const char *notes[] = {"n: a note", NULL};
	const cJSON *expected, *findings;
	struct report report;
	struct error err = {0};

	assert_fine(report_from_json(json, &s->arena, &report, &err));
	report.ranks[1].host = "b";
	report.notes = notes;
	report.expected = (struct report_expected){50, 30.75, "a link", "src"};
	report_complete(&report, json);
	expected = json_member(json, "expected");
	findings = json_member(json_member(json, "pairs"), "findings");
	assert_string_equal(
		json_member(cJSON_GetArrayItem(json_member(json, "ranks"), 1), "host")->valuestring,
		"b");
	assert_string_equal(json_member(findings->child, "host")->valuestring, "b");
	assert_string_equal(json_member(json_member(json, "failure"), "host")->valuestring, "b");
	assert_true(json_number(expected, "percent", 0) == 30.75);
	assert_string_equal(json_member(expected, "because")->valuestring, "a link");
	assert_string_equal(json_member(json, "notes")->child->valuestring, "n: a note");
}

static void test_expectations(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *own = parse(
		"{\"verdict\": \"pass\", \"expected\": {\"busbw\": 5, \"percent\": 40, \"peak\": 2, \"because\": \"--expect\"}}");
	_cleanup_(json_free) cJSON *none = parse("{\"verdict\": \"pass\"}");
	struct report report;
	struct error err = {0};

	assert_fine(report_from_json(own, &s->arena, &report, &err));
	assert_true(report.expected.busbw == 5 && report.expected.percent == 40);
	report_complete(&report, own);
	assert_true(json_number(json_member(own, "expected"), "peak", 0) == 2);
	assert_fine(report_from_json(none, &s->arena, &report, &err));
	report.expected = (struct report_expected){.because = "why not", .source = ""};
	report_complete(&report, none);
	assert_true(cJSON_IsNull(json_member(json_member(none, "expected"), "busbw")));
	assert_string_equal(json_member(json_member(none, "expected"), "because")->valuestring,
			    "why not");
}

static void test_bad_reports(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {"{}", "[]", "{\"verdict\": 3}", "{\"results\": []}"};
	struct report report;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(json_free) cJSON *json = parse(bad[i]);

		assert_fails(report_from_json(json, &s->arena, &report, &err), ERROR_FAILED,
			     "no verdict");
	}
	{
		_cleanup_(json_free) cJSON *json = parse(
			"{\"verdict\": \"pass\", \"results\": [3, null], \"ranks\": {\"a\": 1}, \"world\": -1e300, \"pairs\": {\"usec\": [[1, 2, 3], \"x\"], \"findings\": 3}, \"sgd\": {\"runs\": [null]}, \"expected\": 3, \"failure\": {\"rank\": 0}}");

		err = (struct error){0};
		assert_fine(report_from_json(json, &s->arena, &report, &err));
		assert_string_equal(report.rows[0].type, "");
		assert_int_equal(report.pairs.world, 2);
		assert_true(report.pairs.usec[1] == 2 && report.pairs.usec[3] == 0);
		assert_string_equal(report.sgd.runs[0].name, "");
		report_complete(&report, json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_slow),
		SCRATCH_TEST(test_sgd),
		SCRATCH_TEST(test_nothing_is_lost),
		SCRATCH_TEST(test_completed),
		SCRATCH_TEST(test_expectations),
		SCRATCH_TEST(test_bad_reports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
