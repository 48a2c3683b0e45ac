/* SPDX-License-Identifier: MIT */
/* What Slurm's commands print, taken apart. The lines are those of Slurm 22.05. */
#include "tests/unit/support.h"

#include "deployer/scheduler/slurm.h"
#include "deployer/scheduler/slurm_text.h"

static struct arena arena;

static void test_fields(void **state)
{
	static const char job[] = "JobId=10 JobName=wrap Account=(null) JobState=RUNNING "
				  "Reason=None ExitCode=0:0\nCommand=/x JobState=FAILED";

	(void)state;
	assert_string_equal(slurm_field(job, "JobState", &arena), "RUNNING");
	assert_string_equal(slurm_field(job, "ExitCode", &arena), "0:0");
	assert_string_equal(slurm_field(job, "Command", &arena), "/x");
	assert_string_equal(slurm_field(job, "Account", &arena), "");
	assert_string_equal(slurm_field(job, "State", &arena), "");
	assert_string_equal(slurm_field("", "State", &arena), "");
}

static void test_sentences(void **state)
{
	static const char node[] =
		"NodeName=a Reason=Not responding: eth0=down [slurm@2026-11-25T12:00:00] Comment=a b\nReason=x";

	(void)state;
	assert_string_equal(slurm_sentence(node, "Reason", &arena),
			    "Not responding: eth0=down [slurm@2026-11-25T12:00:00]");
	assert_string_equal(slurm_sentence(node, "Comment", &arena), "a b");
	assert_string_equal(slurm_sentence(node, "Extra", &arena), "");
	assert_string_equal(slurm_sentence("Reason=(null) A=b", "Reason", &arena), "");
	assert_string_equal(slurm_sentence("Reason=", "Reason", &arena), "");
}

static void test_labelled(void **state)
{
	int task = -1;

	(void)state;
	assert_string_equal(slurm_labelled("3: two: three", &task), "two: three");
	assert_int_equal(task, 3);
	assert_string_equal(slurm_labelled("  12: ", &task), "");
	assert_int_equal(task, 12);
	assert_string_equal(slurm_labelled("0:", &task), "");
	assert_null(slurm_labelled("srun: error: no", &task));
	assert_null(slurm_labelled("99999999: no", &task));
	assert_null(slurm_labelled("", &task));
}

static void test_failed(void **state)
{
	static const struct {
		const char *line, *host;
		int task, status;
	} cases[] = {
		{"srun: error: node02: task 1: Exited with exit code 7", "node02", 1, 7},
		{"srun: error: node02: tasks 4-7: Exited with exit code 255", "node02", 4, 255},
		{"srun: error: node01: task 0: Killed", "node01", 0, 137},
		{"srun: error: node01: tasks 0,2: Terminated", "node01", 0, 143},
		{"srun: error: node01: task 5: Segmentation fault (core dumped)", "node01", 5, 139},
		{"srun: error: node01: task 0: Out Of Memory", "node01", 0, 137},
		{"srun: error: Node failure on node02", NULL, 0, 0},
		{"srun: error: node01: task 0: unheard of", NULL, 0, 0},
		{"srun: error: node01: task : Killed", NULL, 0, 0},
		{"srun: Force Terminated StepId=15.1", NULL, 0, 0},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *host = NULL;
		int task = -1, status = -1;
		bool failed = slurm_task_failed(cases[i].line, &arena, &host, &task, &status);

		assert_int_equal(failed, cases[i].host != NULL);
		if (!failed)
			continue;
		assert_string_equal(host, cases[i].host);
		assert_int_equal(task, cases[i].task);
		assert_int_equal(status, cases[i].status);
	}
}

static void test_gpus(void **state)
{
	(void)state;
	assert_int_equal(slurm_gpus("gpu:h100:4(S:0-1),nic:2"), 4);
	assert_int_equal(slurm_gpus("gpu:2"), 2);
	assert_int_equal(slurm_gpus("gpu:a100:4,gpu:t4:1"), 5);
	assert_int_equal(slurm_gpus("cpu=2,mem=1M,gres/gpu=3"), 3);
	assert_int_equal(slurm_gpus("gres/gpu=4,gres/gpu:h100=3,gres/gpu:t4=1"), 4);
	assert_int_equal(slurm_gpus("gres/gpu:h100=3,gres/gpu=3"), 3);
	assert_int_equal(slurm_gpus("gres/gpu:h100=3,gres/gpu:t4=1"), 4);
	assert_int_equal(slurm_gpus("gpu:h100:2(IDX:0,3),nic:0"), 2);
	assert_int_equal(slurm_gpus("nic:4"), 0);
	assert_int_equal(slurm_gpus(""), 0);
}

static void test_reasons(void **state)
{
	bool is_hopeless;

	(void)state;
	assert_true(*slurm_reason("Resources", &is_hopeless) && !is_hopeless);
	assert_true(*slurm_reason("PartitionTimeLimit", &is_hopeless) && is_hopeless);
	assert_true(*slurm_reason("QOSMaxGRESPerUser", &is_hopeless) && !is_hopeless);
	assert_has(slurm_reason("ReqNodeNotAvail,_UnavailableNodes:node[1-2]", &is_hopeless),
		   "down, drained or reserved");
	assert_has(
		slurm_reason(
			"Nodes_required_for_job_are_DOWN,_DRAINED_or_reserved_for_jobs_in_higher_priority_partitions",
			&is_hopeless),
		"status --on slurm");
	assert_has(slurm_reason("launch_failed_requeued_held", &is_hopeless), "scontrol release");
	assert_has(slurm_reason("Dependency", &is_hopeless), "waits for the jobs");
	assert_false(is_hopeless);
	assert_has(slurm_reason("DependencyNeverSatisfied", &is_hopeless), "can never start");
	assert_true(is_hopeless);
	assert_true(*slurm_reason("QOSMaxWallDurationPerJobLimit", &is_hopeless) && is_hopeless);
	assert_true(*slurm_reason("MaxGRESPerAccount", &is_hopeless) && !is_hopeless);
	assert_string_equal(slurm_reason("Depend", &is_hopeless), "");
	assert_string_equal(slurm_reason("", &is_hopeless), "");
	assert_string_equal(slurm_reason("Unheard", &is_hopeless), "");
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
		cmocka_unit_test(test_fields),	 cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_labelled), cmocka_unit_test(test_failed),
		cmocka_unit_test(test_gpus),	 cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
