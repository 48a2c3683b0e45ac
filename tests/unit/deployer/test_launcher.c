/* SPDX-License-Identifier: MIT */
/* What each launcher runs, for 1, 2 and 3 hosts with different numbers of slots. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/launcher/launcher.h"

#define ONE "name: lab\nhosts: [a]\ncontainer: {engine: docker}\n"
#define TWO                                                                                   \
	"name: lab\nhosts: [a, {address: 10.0.0.2, name: b, slots: 2}]\ncontainer: {engine: " \
	"docker}\n"
#define THREE                                                                                      \
	"name: lab\nhosts: [{address: 10.0.0.1, name: a, slots: 4}, {address: 10.0.0.2, name: b, " \
	"slots: 1}, {address: 10.0.0.3, name: c, slots: 3}]\ncontainer: {engine: docker}\n"
#define BARE "name: lab\nhosts: [a]\ncontainer: {engine: none}\n"

static const struct {
	const char *launcher, *yaml;
	size_t member;
	const char *line; /* NULL: nothing is run there */
} cases[] = {
	{"ssh", ONE, 0,
	 "with-secret allreduce --rank 0 --procs 1 --world 1 --root 10.0.0.1:7000 --bind a --host a -b 1K"},
	{"ssh", TWO, 0,
	 "with-secret allreduce --rank 0 --procs 1 --world 3 --root 10.0.0.1:7000 --bind a --host a -b 1K"},
	{"ssh", TWO, 1,
	 "with-secret allreduce --rank 1 --procs 2 --world 3 --root 10.0.0.1:7000 --bind 10.0.0.2 --host b -b 1K"},
	{"ssh", THREE, 2,
	 "with-secret allreduce --rank 5 --procs 3 --world 8 --root 10.0.0.1:7000 --bind 10.0.0.3 --host c -b 1K"},
	{"ssh", BARE, 0,
	 "env RINGUP_SECRET_FILE=/var/lib/ringup/lab/ssh/secret /var/lib/ringup/lab/bin/with-secret /var/lib/ringup/lab/bin/allreduce --rank 0 --procs 1 --world 1 --root 10.0.0.1:7000 --bind a --host a -b 1K"},
	{"mpirun", ONE, 0,
	 "with-secret mpirun --allow-run-as-root --np 1 --host a:1 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x RINGUP_SECRET allreduce --root 10.0.0.1:7000 -b 1K"},
	{"mpirun", TWO, 0,
	 "with-secret mpirun --allow-run-as-root --np 3 --host a:1,10.0.0.2:2 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x RINGUP_SECRET allreduce --root 10.0.0.1:7000 -b 1K"},
	{"mpirun", TWO, 1, NULL},
	{"mpirun", THREE, 0,
	 "with-secret mpirun --allow-run-as-root --np 8 --host 10.0.0.1:4,10.0.0.2:1,10.0.0.3:3 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x RINGUP_SECRET allreduce --root 10.0.0.1:7000 -b 1K"},
	{"mpirun", THREE, 2, NULL},
};

static bool began(const struct proc_result *result)
{
	(void)result;
	return false;
}

static const char *const worker_rank[] = {"allreduce", "--root", "@{root}", "-b", "1K", NULL};
static const char *const worker_host[] = {
	"allreduce", "--rank", "@{rank}",    "--procs", "@{ranks}", "--world", "@{world}", "--root",
	"@{root}",   "--bind", "@{address}", "--host",	"@{host}",  "-b",      "1K",	   NULL};
static const char *const no_env[] = {NULL};

/* The worker as `ringup bench` starts it, with the words -b 1K. */
static struct program worker(struct scratch *s, const struct fleet *fleet)
{
	int *ranks = ARENA_ARRAY(&s->arena, fleet->count, int);

	for (size_t i = 0; i < fleet->count; i++)
		ranks[i] = member_slots(&fleet->members[i]);
	return (struct program){
		.title = "the worker",
		.rank_words = worker_rank,
		.host_words = worker_host,
		.env = no_env,
		.needs_secret = true,
		.ranks = ranks,
		.never_began = began,
	};
}

/* The line that a launcher runs in that member's container; NULL: none. */
static const char *line_for(struct scratch *s, const char *name, struct fleet *fleet,
			    const struct program *program, size_t index)
{
	const struct launcher *launcher;
	const char *const *words;
	struct error err = {0};
	struct launch launch;

	assert_fine(launcher_find(name, &launcher, &err));
	for (size_t i = 0; i < fleet->count; i++)
		fleet->members[i].facts.interface_cidr = "10.0.0.0/24";
	assert_fine(launch_plan(fleet, launcher, program, 60, &s->arena, &launch, &err));
	assert_in_range(launch.root_port, 20000, 29999);
	launch.root_address = "10.0.0.1";
	launch.root_port = 7000;
	words = launch_words(&fleet->members[index], &launch, launcher);
	return words ? line_of(s, words) : NULL;
}

static const char *launched(struct scratch *s, const char *launcher, const char *yaml, size_t index)
{
	struct fleet *fleet = make_fleet(s, yaml);
	struct program program = worker(s, fleet);

	return line_for(s, launcher, fleet, &program, index);
}

static void test_words(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *line =
			launched(*state, cases[i].launcher, cases[i].yaml, cases[i].member);

		if (!cases[i].line)
			assert_null(line);
		else
			assert_string_equal(line, cases[i].line);
	}
}

/* The secret goes by name or by file, never as a value on a command line. */
static void test_no_secret_in_words(void **state)
{
	for (size_t i = 0; launchers[i]; i++) {
		if (!launchers[i]->words)
			continue;
		const char *line = launched(*state, launchers[i]->name, THREE, 0);

		assert_non_null(line);
		assert_lacks(line, "RINGUP_SECRET=");
	}
}

/* Any program: a training script once per rank, with variables and without the secret. */
static void test_another_program(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, TWO);
	struct program program = worker(s, fleet);
	const struct launcher *ssh;
	struct error err = {0};
	struct launch launch;

	program.title = "train.py";
	program.rank_words = WORDS("python3", "train.py", "--of", "@{world}");
	program.host_words = NULL;
	program.env = WORDS("A=b c", "D=e");
	program.needs_secret = false;
	assert_string_equal(
		line_for(s, "mpirun", fleet, &program, 0),
		"mpirun --allow-run-as-root --np 3 --host a:1,10.0.0.2:2 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x 'A=b c' -x D=e python3 train.py --of 3");
	assert_fine(launcher_find("ssh", &ssh, &err));
	assert_fails(launch_plan(fleet, ssh, &program, 60, &s->arena, &launch, &err), ERROR_USAGE,
		     "the launcher 'ssh' cannot start train.py: it starts one command per host");
	assert_has(err.text, "take --launcher mpirun");
	program.host_words = WORDS("torchrun", "--node-rank", "@{rank}", "train.py");
	err = (struct error){0};
	assert_string_equal(line_for(s, "ssh", fleet, &program, 1),
			    "env 'A=b c' D=e torchrun --node-rank 1 train.py");
}

static void test_needs_containers(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, BARE);
	struct program program = worker(s, fleet);
	const struct launcher *mpirun;
	struct error err = {0};
	struct launch launch;

	assert_fine(launcher_find("mpirun", &mpirun, &err));
	assert_fails(launch_plan(fleet, mpirun, &program, 60, &s->arena, &launch, &err),
		     ERROR_USAGE, "it needs containers, and the hosts have none");
	assert_has(err.text, "take --launcher ssh");
}

static void test_find(void **state)
{
	const struct launcher *launcher;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; launchers[i]; i++) {
		const char *name = launchers[i]->name;

		launcher = NULL;
		if (launchers[i]->words)
			assert_fine(launcher_find(name, &launcher, &err));
		if (launchers[i]->tasks)
			assert_fine(launcher_find_for_job(name, &(struct launcher_wish){0},
							  &launcher, &err));
		assert_ptr_equal(launcher, launchers[i]);
		assert_non_null(launcher->component);
		for (size_t j = 0; j < i; j++)
			assert_int_not_equal(launcher->rank, launchers[j]->rank);
	}
	assert_fine(launcher_find(NULL, &launcher, &err));
	assert_string_equal(launcher->name, "ssh");
	assert_fails(launcher_find("shs", &launcher, &err), ERROR_USAGE, "there is no launcher");
	assert_has(err.text, "mpirun (");
}

/* Commands that start ranks themselves: each rank would do so. */
static void test_starters(void **state)
{
	static const struct {
		const char *launcher, *command[8], *expected; /* NULL: it may begin */
	} starters[] = {
		{"auto",
		 {"mpirun", "-n", "2", "./prog", "a b"},
		 "ringup run --launcher mpirun -n 2 -- ./prog 'a b'"},
		{"auto", {"/usr/bin/mpiexec", "./prog"}, "ringup run -n N -- ./prog"},
		{"mpirun", {"mpirun", "-np", "4", "--bind-to", "none", "./prog"}, "-n 4 -- CMD"},
		{"auto",
		 {"horovodrun", "-np", "4", "python3", "x.py"},
		 "ringup run --launcher horovodrun -n 4 -- python3 x.py"},
		{"auto", {"mpirun"}, "-n N -- CMD"},
		{"auto", {"mpirun", "-n"}, "-n N -- CMD"},
		{"env", {"mpirun", "-n", "2", "./prog"}, NULL},
		{"horovodrun", {"mpirun", "./prog"}, NULL},
		{"auto", {"./mpirunner"}, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(starters); i++) {
		const struct launcher_wish wish = {.command = starters[i].command};
		const struct launcher *launcher;
		struct error err = {0};

		if (starters[i].expected)
			assert_fails(
				launcher_find_for_job(starters[i].launcher, &wish, &launcher, &err),
				ERROR_USAGE, starters[i].expected);
		else
			assert_fine(launcher_find_for_job(starters[i].launcher, &wish, &launcher,
							  &err));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_words),		  FLEET_TEST(test_no_secret_in_words),
		FLEET_TEST(test_another_program), FLEET_TEST(test_needs_containers),
		cmocka_unit_test(test_find),	  FLEET_TEST(test_starters),
	};

	return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
