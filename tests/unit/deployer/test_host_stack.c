/* SPDX-License-Identifier: MIT */
/* What a host without containers has, against what the lock names. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "deployer/bringup/host_stack.h"

/* What bash makes of the line by the rules as a `case`: the same text, or "". */
static const char *in_bash(const struct plan *plan, const char *line, struct arena *arena)
{
	_cleanup_(str_release) struct str script = STR_INIT;
	struct proc proc = {.timeout_s = 10};
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error err = {0};

	str_add(&script, "line=$1\nwhat=\ncase $line in\n");
	host_stack_add_cases(plan, &script);
	str_add(&script, "esac\nprintf %s \"$what\"\n");
	proc.words = WORDS("bash", "-c", script.text, "bash", line);
	assert_int_equal(proc_run(&proc, &result, &err), 0);
	assert_string_equal(result.err.text, "");
	return arena_strdup(arena, result.out.text);
}

static void test_hostile_lock(void **state)
{
	static const struct plan plan = {
		.count = 2,
		.choices = {{.name = "torch", .version = "2'; echo no; '$(echo no)*"},
			    {.name = "a b) echo no ;;", .version = "*"}}};
	struct scratch *s = *state;

	assert_string_equal(in_bash(&plan, "torch=1", &s->arena),
			    "torch 1, where ringup.lock has 2'; echo no; '$(echo no)*");
	assert_string_equal(in_bash(&plan, "a b) echo no ;;=1", &s->arena),
			    "a b) echo no ;; 1, where ringup.lock has *");
}

static void test_differences(void **state)
{
	static const struct {
		const char *line, *expected; /* NULL: no difference */
	} cases[] = {
		{"torch=2.4.0+cu124", NULL},
		{"torch=2.4.1+cu124", "torch 2.4.1+cu124, where ringup.lock has 2.4.0"},
		{"torch=2.4", "torch 2.4, where ringup.lock has 2.4.0"},
		{"torch=2.4.0.post1", "torch 2.4.0.post1, where ringup.lock has 2.4.0"},
		{"torchvision=0.1", NULL}, /* not in the lock */
		{"tensorflow-cpu=2.13.1", NULL},
		{"tensorflow-cpu=2.12.0", "tensorflow 2.12.0, where ringup.lock has 2.13.1"},
		{"python=3.11", NULL},
		{"python=3.1", "python 3.1, where ringup.lock has 3.11.2"},
		{"python=3.9", "python 3.9, where ringup.lock has 3.11.2"},
		{"mpi=Open MPI 4.1.4", NULL},
		{"mpi=Open MPI 5.0.3", "openmpi 5.0.3, where ringup.lock has 4.1.4"},
		{"mpi=MPICH 4.0.2", NULL},
		/* torch brings its NCCL; the one of the system is not loaded */
		{"nccl=2.18.3", NULL},
		{"nvidia-nccl-cu12=2.20.5", NULL},
		{"nvidia-nccl-cu12=2.21.5", "nccl 2.21.5, where ringup.lock has 2.20.5"},
		{"nvidia-nccl-=2.21.5", NULL},
		{"cudnn=8.9.7", NULL}, /* a package's revision */
		{"cudnn=8.9.6", "cudnn 8.9.6, where ringup.lock has 8.9.7-1"},
		{"torch=", NULL},
		{"torch", NULL},
		{"=", NULL},
		{"", NULL},
	};
	static const struct plan plan = {
		.count = 6,
		.choices = {{.name = "torch", .version = "2.4.0"},
			    {.name = "tensorflow", .version = "2.13.1"},
			    {.name = "python", .version = "3.11.2"},
			    {.name = "openmpi", .version = "4.1.4"},
			    {.name = "nccl", .version = "2.20.5", .wheel = "torch"},
			    {.name = "cudnn", .version = "8.9.7-1"}}};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *differs = host_stack_differs(&plan, cases[i].line, &s->arena);

		if (!cases[i].expected)
			assert_null(differs);
		else
			assert_string_equal(differs ? differs : "", cases[i].expected);
		assert_string_equal(in_bash(&plan, cases[i].line, &s->arena),
				    differs ? differs : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_differences, scratch_setup, scratch_teardown),
		cmocka_unit_test_setup_teardown(test_hostile_lock, scratch_setup, scratch_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
