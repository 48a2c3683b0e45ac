/* SPDX-License-Identifier: MIT */
/* What kubectl prints, taken apart. The words are those of kubectl 1.32 and of kube-apiserver 1.20. */
#include "tests/unit/support.h"

#include "deployer/scheduler/kubernetes_text.h"
#include "deployer/scheduler/rank_tag.h"

static struct arena arena;

static cJSON *parsed(const char *text)
{
	cJSON *json = cJSON_Parse(text);

	assert_non_null(json);
	return json;
}

static void test_jobs(void **state)
{
	static const struct {
		const char *text;
		bool ended, failed, suspended;
		const char *reason;
	} cases[] = {
		{"{}", false, false, false, ""},
		{"{\"status\":{\"conditions\":[{\"type\":\"Complete\",\"status\":\"True\"}]}}",
		 true, false, false, ""},
		{"{\"status\":{\"conditions\":[{\"type\":\"Running\",\"status\":\"True\"},{\"type\":"
		 "\"Failed\",\"status\":\"True\",\"reason\":\"DeadlineExceeded\"}]}}",
		 true, true, false, "DeadlineExceeded"},
		{"{\"status\":{\"conditions\":[{\"type\":\"Failed\",\"status\":\"False\"}]}}",
		 false, false, false, ""},
		{"{\"spec\":{\"suspend\":true}}", false, false, true, ""},
		{"{\"status\":{\"conditions\":[{\"type\":\"Suspended\",\"status\":\"True\","
		 "\"reason\":\"a\\u001b[2J\\nb\"}]}}",
		 false, false, true, "a[2J; b"},
		{"{\"status\":{\"conditions\":7}}", false, false, false, ""},
		{"[]", false, false, false, ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(json_free) cJSON *json = parsed(cases[i].text);
		struct kubernetes_job job;

		kubernetes_read_job(json, &arena, &job);
		assert_int_equal(job.has_ended, cases[i].ended);
		assert_int_equal(job.has_failed, cases[i].failed);
		assert_int_equal(job.is_suspended, cases[i].suspended);
		assert_string_equal(job.reason, cases[i].reason);
	}
}

static void test_rank_tags(void **state)
{
	static const struct {
		const char *line, *text; /* NULL: there is no tag */
		int rank;
		bool is_of_node;
	} cases[] = {
		/* torch 1.13 and 2.x; Open MPI 4.1.4 and 5.0 */
		{"[default3]:loss 0.1", "loss 0.1", 3, true},
		{"[default0]:", "", 0, true},
		{"[1,12]<stdout>: loss", " loss", 12, false},
		{"[1,0]<stderr>:no", "no", 0, false},
		{"[prterun-node-7-82@1,3]<stdout>: loss", "loss", 3, false},
		{"[default]:x", NULL, 0, false},
		{"[default1234567]:x", NULL, 0, false},
		{"[default-1]:x", NULL, 0, false},
		{"[1,3]: x", NULL, 0, false},
		{"[1, 3]<stdout>:x", NULL, 0, false},
		{"[1,3,4]<stdout>:x", NULL, 0, false},
		{"1,3]<stdout>:x", NULL, 0, false},
		{"[", NULL, 0, false},
		{"", NULL, 0, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		bool is_of_node;
		int rank = -1;
		const char *text = rank_tag(cases[i].line, &rank, &is_of_node);

		assert_int_equal(text != NULL, cases[i].text != NULL);
		if (!text)
			continue;
		assert_string_equal(text, cases[i].text);
		assert_int_equal(rank, cases[i].rank);
		assert_int_equal(is_of_node, cases[i].is_of_node);
	}
}

static void test_pods(void **state)
{
	_cleanup_(json_free) cJSON *json = parsed(
		"{\"items\":[{\"metadata\":{\"name\":\"a\"},\"status\":{\"phase\":\"Pending\",\"conditions\":"
		"[{\"type\":\"PodScheduled\",\"status\":\"False\",\"reason\":\"Unschedulable\",\"message\":\"no\"}]}},"
		"{\"metadata\":{\"name\":\"b\"},\"spec\":{\"nodeName\":\"n\"},\"status\":{\"phase\":\"Failed\","
		"\"containerStatuses\":[{\"state\":{\"terminated\":{\"exitCode\":7,\"reason\":\"Error\","
		"\"finishedAt\":\"2026-11-25T12:00:09Z\"}}}]}},"
		"{\"metadata\":{\"name\":\"c\"},\"status\":{\"phase\":\"Failed\",\"containerStatuses\":[{\"state\":"
		"{\"terminated\":{\"exitCode\":137,\"reason\":\"OOMKilled\",\"finishedAt\":\"2026-11-25T12:00:08Z\"}}}]}}]}");
	struct kubernetes_pods pods;

	(void)state;
	kubernetes_read_pods(json, &arena, &pods);
	assert_int_equal(pods.count, 3);
	assert_string_equal(pods.list[0].name, "c");
	assert_string_equal(pods.list[0].waits, "OOMKilled");
	assert_int_equal(pods.list[0].status, 137);
	assert_string_equal(pods.list[1].node, "n");
	assert_string_equal(pods.list[1].waits, "");
	assert_int_equal(pods.list[1].status, 7);
	assert_true(pods.list[1].has_begun && pods.list[1].has_failed);
	assert_true(pods.list[2].is_pending && !pods.list[2].has_begun);
	assert_string_equal(pods.list[2].waits, "Unschedulable");
}

static void test_refusals(void **state)
{
	_cleanup_(json_free) cJSON *json = parsed(
		"{\"items\":[{\"involvedObject\":{\"kind\":\"Job\",\"name\":\"a-1-node-0\"},\"reason\":\"FailedCreate\","
		"\"message\":\"no\\nroom\",\"lastTimestamp\":\"2026-11-25T12:00:09Z\"},"
		"{\"involvedObject\":{\"kind\":\"Job\",\"name\":\"a-1\"},\"reason\":\"FailedCreate\",\"message\":\"old\","
		"\"lastTimestamp\":\"2026-11-25T12:00:08Z\"},"
		"{\"involvedObject\":{\"kind\":\"Job\",\"name\":\"a-12\"},\"reason\":\"FailedCreate\",\"message\":\"another\"},"
		"{\"involvedObject\":{\"name\":\"a-12\"},\"reason\":\"BackOff\"},{\"involvedObject\":7},8]}");

	(void)state;
	assert_string_equal(kubernetes_refusal(json, "a-1", &arena),
			    "Job a-1-node-0: FailedCreate: no; room");
	assert_string_equal(kubernetes_refusal(json, "b", &arena), "");
	assert_string_equal(kubernetes_refusal(NULL, "b", &arena), "");
}

#define ROLES "chief=1,worker=2,ps=1,worker=1,evaluator=1"

static void test_tasks(void **state)
{
	(void)state;
	assert_int_equal(kubernetes_task("job", "", "x", "x-3-abcde"), 3);
	assert_int_equal(kubernetes_task("jobset", "", "x", "x-node-0-12-abcde"), 12);
	assert_int_equal(kubernetes_task("pytorchjob", "", "x", "x-master-0"), 0);
	assert_int_equal(kubernetes_task("pytorchjob", "", "x", "x-worker-0"), 1);
	assert_int_equal(kubernetes_task("tfjob", "", "x", "x-worker-4"), 4);
	assert_int_equal(kubernetes_task("tfjob", "", "x", "x-ps-0"), -1);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-chief-0"), 0);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-worker-1"), 2);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-ps-0"), 3);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-worker-2"), 4);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-evaluator-0"), 5);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-evaluator-1"), -1);
	assert_int_equal(kubernetes_task("tfjob", ROLES, "x", "x-work-0"), -1);
	assert_int_equal(kubernetes_task("tfjob", "ps,=,9999999=1", "x", "x-ps-0"), -1);
	assert_int_equal(kubernetes_task("mpijob", "", "x", "x-worker-0"), -1);
	assert_int_equal(kubernetes_task("job", "", "x", "y-3-abcde"), -1);
	assert_int_equal(kubernetes_task("job", "", "x", "x-9999999-a"), -1);
	assert_int_equal(kubernetes_task("job", "", "x", "x"), -1);
}

static void test_log_lines(void **state)
{
	const char *pod, *stamp, *text;

	(void)state;
	assert_true(kubernetes_log_line("[pod/x-0-a/rank] 2026-11-25T12:00:00.5Z a b", &arena, &pod,
					&stamp, &text));
	assert_string_equal(pod, "x-0-a");
	assert_string_equal(stamp, "2026-11-25T12:00:00.5Z");
	assert_string_equal(text, "a b");
	assert_true(kubernetes_log_line("[pod/x/c] 2026-11-25T12:00:00.5Z", &arena, &pod, &stamp,
					&text));
	assert_string_equal(text, "");
	assert_false(kubernetes_log_line("error: no", &arena, &pod, &stamp, &text));
	assert_false(kubernetes_log_line("[pod/x] a", &arena, &pod, &stamp, &text));
	assert_false(
		kubernetes_log_line("[pod/x/c] unable to retrieve", &arena, &pod, &stamp, &text));
}

static void test_complaints(void **state)
{
	(void)state;
	assert_string_equal(
		kubernetes_complaint(
			"E1125 12:00:00.1 1 memcache.go:265] x\nWarning: old\nerror: no\n", &arena),
		"no");
	assert_string_equal(kubernetes_complaint("Error from server (Forbidden): a\nb\n", &arena),
			    "Error from server (Forbidden): a; b");
	assert_string_equal(kubernetes_complaint("", &arena), "it said nothing");
}

static void test_nodes(void **state)
{
	_cleanup_(json_free) cJSON *nodes = parsed(
		"{\"items\":[{\"metadata\":{\"name\":\"n\",\"labels\":{\"nvidia.com/gpu.product\":\"H100\"}},"
		"\"status\":{\"allocatable\":{\"cpu\":\"63500m\",\"nvidia.com/gpu\":\"8\",\"nvidia.com/mig-1g.5gb\":\"2\"},"
		"\"conditions\":[{\"type\":\"Ready\",\"status\":\"False\",\"message\":\"gone\"}]}}]}");
	_cleanup_(json_free) cJSON *pods = parsed(
		"{\"items\":[{\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"resources\":{\"requests\":"
		"{\"cpu\":\"1500m\",\"nvidia.com/gpu\":\"3\"}}}]},\"status\":{\"phase\":\"Running\"}},"
		"{\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"resources\":{\"requests\":{\"nvidia.com/gpu\":1}}}]},"
		"\"status\":{\"phase\":\"Succeeded\"}}]}");
	struct scheduler_overview overview = {0};

	(void)state;
	kubernetes_read_nodes(nodes, pods, &arena, &overview);
	assert_int_equal(overview.node_count, 1);
	assert_string_equal(overview.nodes[0].state, "NotReady");
	assert_string_equal(overview.nodes[0].reason, "gone");
	assert_int_equal(overview.nodes[0].gpus, 10);
	assert_int_equal(overview.nodes[0].gpus_used, 3);
	assert_int_equal(overview.nodes[0].cpus, 64);
	assert_int_equal(overview.nodes[0].cpus_used, 2);
	kubernetes_read_nodes(NULL, NULL, &arena, &overview);
	kubernetes_read_queues(NULL, &arena, &overview);
	assert_int_equal(overview.queue_count, 0);
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs),	   cmocka_unit_test(test_rank_tags),
		cmocka_unit_test(test_pods),	   cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_refusals),   cmocka_unit_test(test_log_lines),
		cmocka_unit_test(test_complaints), cmocka_unit_test(test_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
