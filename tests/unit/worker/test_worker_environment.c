/* SPDX-License-Identifier: MIT */
/* Every launcher that the worker knows: by which variables it is found, and where it says that rank 0
 * listens. A row of the table without a case here fails. */
#include "tests/unit/support.h"

#define failure_set worker_failure_set /* another folder has one, too */
#undef expect_check		       /* cmocka's; the worker has a function of that name */
#include "images/worker/environment.c"
#include "images/worker/failure.c"
#include "images/worker/net/hmac.c"
#include "images/worker/perf.c"
#include "images/worker/secret.c"
#include "images/worker/text.c"

const char *collective_name(enum collective_kind kind)
{
	(void)kind;
	return "";
}

#define VARIABLES_MAX 8

/* The ranks of one launcher on two hosts; the root is what @options must hold then. */
struct launched {
	const char *launcher;
	const char *variables[VARIABLES_MAX];
	const char *root; /* NULL: an error is wanted */
};

static const struct launched cases[] = {
	{"torchrun",
	 {"TORCHELASTIC_RUN_ID=a", "RANK=5", "WORLD_SIZE=8", "LOCAL_WORLD_SIZE=4", "MASTER_ADDR=h0",
	  "MASTER_PORT=29400"},
	 "h0:29400"},
	{"torchrun",
	 {"TORCHELASTIC_RUN_ID=a", "TORCHELASTIC_USE_AGENT_STORE=True", "RANK=5", "WORLD_SIZE=8",
	  "LOCAL_WORLD_SIZE=4", "MASTER_ADDR=h0", "MASTER_PORT=29400"},
	 "h0:29401"},
	{"Open MPI",
	 {"OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_SIZE=4"},
	 "mpi:1"},
	{"Open MPI",
	 {"OMPI_COMM_WORLD_RANK=5", "OMPI_COMM_WORLD_SIZE=8", "OMPI_COMM_WORLD_LOCAL_SIZE=4",
	  "SLURM_JOB_ID=77", "SLURM_JOB_NODELIST=node[07-08]"},
	 "node07:*"},
	{"Hydra", {"MPI_LOCALNRANKS=4", "PMI_RANK=5", "PMI_SIZE=8"}, "mpi:1"},
	{"Slurm",
	 {"SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_NNODES=2", "SLURM_JOB_ID=77",
	  "SLURM_STEP_ID=3", "SLURM_STEP_NODELIST=node[07-08]"},
	 "node07:*"},
	{"Slurm",
	 {"SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_NNODES=2", "SLURM_JOB_ID=77",
	  "SLURM_STEP_ID=3", "SLURM_STEP_NODELIST=a,b", "SLURM_STEP_RESV_PORTS=20111-20113"},
	 "a:20111"},
	{"Slurm", {"SLURM_PROCID=5", "SLURM_NTASKS=8", "SLURM_NNODES=2", "SLURM_JOB_ID=77"}, NULL},
	{"PMI", {"PMI_RANK=5", "PMI_SIZE=8"}, "mpi:1"},
	{"a launcher",
	 {"RANK=5", "WORLD_SIZE=8", "MASTER_ADDR=h0", "MASTER_PORT=29400"},
	 "h0:29400"},
	/* only torchrun has a store */
	{"a launcher",
	 {"RANK=5", "WORLD_SIZE=8", "TORCHELASTIC_USE_AGENT_STORE=True", "MASTER_ADDR=h0",
	  "MASTER_PORT=29400"},
	 "h0:29400"},
	{"a launcher", {"RANK=5", "WORLD_SIZE=8"}, NULL},
	{"Kubernetes",
	 {"JOB_COMPLETION_INDEX=5", "WORLD_SIZE=8", "MASTER_ADDR=h0", "MASTER_PORT=29400"},
	 "h0:29400"},
};

int mpi_root(struct options *options, struct failure *err)
{
	(void)err;
	snprintf(options->root_host, sizeof(options->root_host), "mpi");
	snprintf(options->root_port, sizeof(options->root_port), "1");
	return 0;
}

/* Nothing is left of this test's own launcher, but what cmocka prints stays as it was asked for. */
static void clear_variables(void)
{
	const char *now = getenv("CMOCKA_MESSAGE_OUTPUT");
	char *kept = now ? strdup(now) : NULL;

	clearenv();
	if (kept)
		setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1);
	free(kept);
}

static void set_variables(const char *const *variables)
{
	clear_variables();
	for (int i = 0; i < VARIABLES_MAX && variables[i]; i++)
		assert_int_equal(putenv((char *)(uintptr_t)variables[i]), 0);
}

static const struct launcher *launcher_of(const char *name)
{
	for (int i = 0; i < LAUNCHERS; i++)
		if (strcmp(launchers[i].name, name) == 0)
			return &launchers[i];
	fail_msg("there is no launcher %s", name);
	return NULL;
}

static struct options asked_for_nothing(void)
{
	return (struct options){.rank = -1, .world = -1, .root_listener = -1, .color = -1};
}

static void check_root(const struct launched *l, const struct options *options)
{
	const char *colon = strchr(l->root, ':');

	assert_int_equal(strlen(options->root_host), colon - l->root);
	assert_memory_equal(options->root_host, l->root, colon - l->root);
	if (colon[1] == '*')
		assert_in_range(strtol(options->root_port, NULL, 10), 20000, 31999);
	else
		assert_string_equal(options->root_port, colon + 1);
	/* the name of a MASTER_ADDR may become known later */
	assert_int_equal(options->root_awaited, strncmp(l->root, "h0:", 3) == 0);
}

static void test_two_hosts(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct launched *l = &cases[i];
		struct options options = asked_for_nothing();
		struct failure err = {.status = STATUS_PASS};

		set_variables(l->variables);
		assert_int_equal(environment_apply(&options, &err), l->root ? 0 : -1);
		assert_int_equal(options.rank, 5);
		assert_int_equal(options.world, 8);
		if (l->root) {
			check_root(l, &options);
			continue;
		}
		assert_non_null(strstr(err.reason, l->launcher));
		assert_non_null(strstr(err.reason, "--root HOST:PORT"));
	}
}

/* The first case of each row, once more, is that row's and not another one's. */
static void test_every_row(void **state)
{
	(void)state;
	for (int row = 0; row < LAUNCHERS; row++) {
		bool covered = false;

		for (size_t i = 0; i < ARRAY_LEN(cases) && !covered; i++) {
			int first = 0;

			if (launcher_of(cases[i].launcher) != &launchers[row])
				continue;
			covered = true;
			set_variables(cases[i].variables);
			while (!environment_is_from(&launchers[first]))
				first++;
			assert_int_equal(first, row);
		}
		if (!covered)
			fail_msg("%s has no case", launchers[row].name);
		assert_string_not_equal(environment_name(row), "");
	}
	assert_null(environment_name(LAUNCHERS));
}

/* Without the number of ranks, the variable that is missing is named; --world replaces it. */
static void test_no_world(void **state)
{
	(void)state;
	for (int row = 0; row < LAUNCHERS; row++) {
		const struct launcher *l = &launchers[row];
		struct options options = asked_for_nothing();
		struct failure err = {.status = STATUS_PASS};

		clear_variables();
		setenv(l->rank, "1", 1);
		if (l->mark)
			setenv(l->mark, "1", 1);
		assert_int_equal(environment_apply(&options, &err), -1);
		assert_non_null(strstr(err.reason, l->world));
		options = asked_for_nothing();
		options.world = 2;
		snprintf(options.root_host, sizeof(options.root_host), "h0");
		assert_int_equal(environment_apply(&options, &err), 0);
		assert_int_equal(options.rank, 1);
	}
}

/* Where all ranks are on this host they meet on loopback; jobs of other names, and other steps of one
 * job, do not. */
static void test_one_host(void **state)
{
	static const struct {
		const char *variables[VARIABLES_MAX], *others[VARIABLES_MAX];
	} jobs[] = {
		{{"TORCHELASTIC_RUN_ID=a", "RANK=1", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2"},
		 {"TORCHELASTIC_RUN_ID=b", "RANK=1", "WORLD_SIZE=2", "LOCAL_WORLD_SIZE=2"}},
		{{"SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_NNODES=1", "SLURM_JOB_ID=7",
		  "SLURM_STEP_ID=0"},
		 {"SLURM_PROCID=1", "SLURM_NTASKS=2", "SLURM_NNODES=1", "SLURM_JOB_ID=7",
		  "SLURM_STEP_ID=1"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(jobs); i++) {
		struct options one = asked_for_nothing(), other = asked_for_nothing();
		struct failure err = {.status = STATUS_PASS};

		set_variables(jobs[i].variables);
		assert_int_equal(environment_apply(&one, &err), 0);
		set_variables(jobs[i].others);
		assert_int_equal(environment_apply(&other, &err), 0);
		assert_string_equal(one.root_host, "127.0.0.1");
		assert_string_not_equal(one.root_port, other.root_port);
		assert_memory_not_equal(&one.secret, &other.secret, sizeof(one.secret));
	}
}

/* The secret is taken out of the environment, which others can read, and out of core dumps. */
static void test_secret_is_taken(void **state)
{
	struct options options = asked_for_nothing();
	struct failure err = {.status = STATUS_PASS};
	char *text;

	(void)state;
	assert_int_equal(setenv("RINGUP_SECRET", "a word", 1), 0);
	text = getenv("RINGUP_SECRET");
	assert_int_equal(environment_apply(&options, &err), 0);
	assert_memory_equal(options.secret.bytes, "a word", sizeof("a word"));
	assert_null(getenv("RINGUP_SECRET"));
	assert_memory_equal(text, "\0\0\0\0\0\0", 6);
	assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
	secret_unguard();
	assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_secret_is_taken), cmocka_unit_test(test_two_hosts),
		cmocka_unit_test(test_every_row),	cmocka_unit_test(test_no_world),
		cmocka_unit_test(test_one_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
