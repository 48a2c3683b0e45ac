/* SPDX-License-Identifier: MIT */
/* Commands that begin with the words of torchrun, accelerate or deepspeed, and their launchers. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/job/plan.h"
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/own_words.h"

#include <string.h>

static const char HOSTS[] =
	"hosts: [{address: 10.0.0.1}, {address: 10.0.0.2}]\ncontainer: {engine: docker}\n";

static const char *own_line(struct scratch *s, const char *const *list)
{
	struct words words = WORDS_INIT(&s->arena);

	words_add_all(&words, list);
	return words_join(&words, " ");
}

/* A line per task that `auto` starts on the second host; or the error. */
static const char *own_tasks(struct scratch *s, int ranks, int per_host, const char *name,
			     const char *const *command)
{
	struct job_options options = {.ranks = ranks, .per_host = per_host, .command = command};
	const struct launcher_wish wish = {.command = command};
	struct job_tasks tasks = {.arena = &s->arena};
	_cleanup_(str_release) struct str text = STR_INIT;
	struct job_plan plan;
	struct error err = {0};

	assert_fine(launcher_find_for_job(name, &wish, &options.launcher, &err));
	assert_fine(job_plan_without_hosts(make_fleet(s, HOSTS), &options, &s->arena, &plan, &err));
	snprintf(plan.id, sizeof(plan.id), "f00d");
	if (options.launcher->tasks(&plan, &plan.hosts[plan.host_count - 1], &tasks, &err) < 0)
		return arena_strdup(&s->arena, err.text);
	for (size_t i = 0; i < tasks.count; i++)
		str_addf(&text, "%s: %s | %s\n", tasks.list[i].label,
			 own_line(s, tasks.list[i].env), own_line(s, tasks.list[i].words));
	return arena_strdup(&s->arena, text.text);
}

/* Other spellings, of which each rank would start a world of its own. */
static void test_spellings(void **state)
{
	const char *const *const commands[] = {
		WORDS("python3", "-m", "torch.distributed.run", "--nproc_per_node", "2", "t.py"),
		WORDS("/opt/venv/bin/python3.11", "-m", "torch.distributed.launch", "t.py"),
		WORDS("accelerate-launch", "t.py"),
	};
	static const char *const advice[] = {"ringup run -- torchrun ...",
					     "ringup run -- torchrun ...",
					     "ringup run -- accelerate launch ..."};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const struct launcher_wish wish = {.command = commands[i]};
		const struct launcher *launcher;
		struct error err = {0};

		assert_int_equal(launcher_find_for_job("auto", &wish, &launcher, &err), -1);
		assert_int_equal(err.kind, ERROR_USAGE);
		assert_has(err.text, "each rank would start ");
		assert_has(err.text, advice[i]);
	}
}

static void test_torchrun(void **state)
{
	const char *text =
		own_tasks(*state, 0, 2, "auto",
			  WORDS("/opt/venv/bin/torchrun", "--max_restarts=2", "t.py", "--nnodes"));

	assert_has(text, "t0: PYTHONUNBUFFERED=1 PET_LOCAL_ADDR=10.0.0.2 | sh -c rank=$1; shift\n");
	assert_has(
		text,
		" sh ringup-job rank --id f00d --address 10.0.0.2 -- /opt/venv/bin/torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_id=f00d --rdzv_endpoint=10.0.0.1:PORT --rdzv_conf=is_host=0 --redirects=1 --tee=1 --max_restarts=2 t.py --nnodes\n");
}

static void test_accelerate(void **state)
{
	static const char added[] =
		"--num_machines=2 --machine_rank=1 --num_processes=4 --main_process_ip=10.0.0.1 --main_process_port=PORT --rdzv_backend=static --deepspeed_multinode_launcher=standard ";
	struct scratch *s = *state;

	assert_has(
		own_tasks(s, 0, 2, "auto", WORDS("accelerate", "launch", "t.py", "--cpu")),
		arena_printf(&s->arena, " -- accelerate launch %s--multi_gpu t.py --cpu\n", added));
	/* the file says how ranks are started */
	assert_has(own_tasks(s, 0, 2, "auto",
			     WORDS("accelerate", "launch", "--config_file", "fsdp.yaml", "t.py")),
		   arena_printf(&s->arena, " -- accelerate launch %s--config_file fsdp.yaml t.py\n",
				added));
	assert_has(
		own_tasks(s, 0, 2, "accelerate", WORDS("python3", "t.py")),
		"--multi_gpu --no_python ringup-job rank --id f00d --address 10.0.0.2 -- python3 t.py\n");
	/* a single rank is accelerate's own process */
	assert_has(
		own_tasks(s, 1, 1, "auto", WORDS("accelerate", "launch", "t.py")),
		"RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 NODE_RANK=0 MASTER_ADDR=10.0.0.1 MASTER_PORT=PORT | ringup-job rank --id f00d --address 10.0.0.1 -- accelerate launch --num_machines=1 ");
	assert_has(
		own_tasks(s, 3, 2, "auto", WORDS("accelerate", "launch", "t.py")),
		"accelerate starts as many ranks on every host, and 10.0.0.1 would have 2 and 10.0.0.2 1");
}

static void test_deepspeed(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(
		own_tasks(s, 3, 2, "auto", WORDS("deepspeed", "t.py", "--deepspeed", "z.json")),
		"2: RANK=2 WORLD_SIZE=3 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 NODE_RANK=1 MASTER_ADDR=10.0.0.1 MASTER_PORT=PORT LOCAL_SIZE=1 CROSS_RANK=1 CROSS_SIZE=2 | python3 -u t.py --local_rank=0 --deepspeed z.json\n");
	assert_has(
		own_tasks(s, 0, 2, "auto",
			  WORDS("/v/bin/deepspeed", "--module", "--no_local_rank", "pkg.t", "x")),
		"| /v/bin/python3 -u -m pkg.t x\n");
	assert_has(own_tasks(s, 0, 2, "auto", WORDS("deepspeed", "--no_python", "./t.sh", "x")),
		   "| ./t.sh --local_rank=1 x\n");
	assert_has(own_tasks(s, 0, 2, "deepspeed", WORDS("python3", "t.py")), "| python3 t.py\n");
	assert_has(
		own_tasks(s, 0, 2, "auto", WORDS("deepspeed", "--num_gpus=8", "t.py")),
		"deepspeed's --num_gpus=8 is for one that starts the ranks by hand; leave it out");
	assert_has(own_tasks(s, 0, 2, "auto", WORDS("deepspeed", "--autotuning", "run", "t.py")),
		   "does not know --autotuning");
	assert_has(own_tasks(s, 0, 2, "auto", WORDS("deepspeed", "--module")),
		   "the script is missing");
}

/* Which words are the launcher's own options, and which are the script's. */
static void test_options(void **state)
{
	static const char *const taken[] = {"nnodes", "nproc_per_node", "r", NULL};
	const struct {
		const char *const *options;
		bool is_fine;
	} cases[] = {
		{WORDS(NULL), true},
		{WORDS("t.py", "--nnodes=2"), true},
		{WORDS("--nnodes=2", "t.py"), false},
		{WORDS("--nnodes", "2", "t.py"), false},
		{WORDS("--max_restarts", "2", "--nproc-per-node", "8", "t.py"), false},
		{WORDS("-r", "3", "t.py"), false},
		{WORDS("--max_restarts", "2", "t.py", "--nproc_per_node", "8"), true},
		{WORDS("--max_restarts=2", "train", "--nnodes", "8"), true},
		{WORDS("-m", "pkg.train", "-r"), true},
		{WORDS("--module", "-r", "3", "pkg.train"), false},
		{WORDS("--nnodes_more=2", "-rx", "-"), true},
	};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (own_words_check(cases[i].options, taken, "torchrun", &err) !=
		    (cases[i].is_fine ? 0 : -1))
			fail_msg("case %zu", i);
	assert_true(
		own_words_begin(WORDS("/a/accelerate", "launch"), WORDS("accelerate", "launch")));
	assert_false(own_words_begin(WORDS("accelerate"), WORDS("accelerate", "launch")));
	assert_false(own_words_begin(WORDS("torchrun.sh"), WORDS("torchrun")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_spellings),	FLEET_TEST(test_torchrun),
		FLEET_TEST(test_accelerate),	FLEET_TEST(test_deepspeed),
		cmocka_unit_test(test_options),
	};

	return cmocka_run_group_tests_name("own words", tests, NULL, NULL);
}
