/* SPDX-License-Identifier: MIT */
/* Where an exported job's ranks go, and what starts them on a node, by launcher. */
#include "tests/unit/support.h"

#include "core/quote.h"
#include "deployer/export/export.h"
#include "deployer/export/node.h"

#include <limits.h>
#include <string.h>

#define HOSTS                                                                             \
	"name: lab\nhosts: [{address: 10.0.0.1, name: a, slots: 2}, {address: 10.0.0.2, " \
	"name: b, slots: 2}]\ncontainer: {engine: none, env: {A: one, B: two}}\n"

/* A wish for a command on two hosts of two slots. */
static struct export_wish wish_of(struct scratch *s, const char *launcher,
				  const char *const *command)
{
	struct cluster *cluster = ARENA_NEW(&s->arena, struct cluster);
	struct export_wish wish = {.arena = &s->arena, .cluster = cluster, .image = ""};
	struct error err = {0};

	assert_fine(cluster_load(put(s, "cluster.yaml", HOSTS), &s->arena, cluster, &err));
	wish.settings = wish.job.env = WORDS(NULL);
	wish.job.name = "job";
	wish.job.workdir = "";
	wish.job.command = command;
	assert_fine(launcher_find_for_job(launcher, &(struct launcher_wish){.command = command},
					  &wish.job.launcher, &err));
	return wish;
}

static void test_place(void **state)
{
	static const struct {
		int nodes, ranks, per_host; /* given */
		int on, each, world;	    /* wanted; 0 nodes: refused */
	} cases[] = {
		{0, 0, 0, 2, 2, 4},
		{0, 3, 0, 2, 2, 3},
		{0, 2, 0, 1, 2, 2},
		{0, 0, 8, 2, 8, 16},
		{0, 5, 0, 0, 0, 0},
		{4, 0, 0, 4, 2, 8},
		{4, 0, 8, 4, 8, 32},
		{3, 7, 0, 3, 3, 7},
		{3, 9, 2, 0, 0, 0},
		{3, 4, 2, 0, 0, 0},
		{1, 6, 0, 1, 6, 6},
		{1, 4, 8, 1, 4, 4},
		{0, 1, 0, 1, 1, 1},
		{0, 32, 8, 4, 8, 32},
		{0, 30, 8, 4, 8, 30},
		{0, 4, 8, 1, 4, 4},
		{EXPORT_NODES_MAX + 1, 0, 0, 0, 0, 0},
		{0, EXPORT_NODES_MAX + 1, 1, 0, 0, 0},
		{0, INT_MAX, 2, 0, 0, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct export_wish wish = wish_of(*state, "env", WORDS("./x"));
		struct error err = {0};

		wish.nodes = cases[i].nodes;
		wish.job.ranks = cases[i].ranks;
		wish.job.per_host = cases[i].per_host;
		assert_int_equal(export_place(&wish, &err), cases[i].on ? 0 : -1);
		if (!cases[i].on) {
			assert_int_equal(err.kind, ERROR_USAGE);
			continue;
		}
		assert_int_equal(wish.nodes, cases[i].on);
		assert_int_equal(wish.per_node, cases[i].each);
		assert_int_equal(wish.world, cases[i].world);
	}
}

static const char *node_line(struct scratch *s, const char *launcher, const char *const *command,
			     int per_node)
{
	struct export_wish wish = wish_of(s, launcher, command);
	const struct launcher_node node = {.nodes = 2,
					   .per_node = per_node,
					   .world = 2 * per_node,
					   .id = "job",
					   .rank = "$RANK",
					   .address = "first",
					   .port = "1234",
					   .hostfile = "/hosts"};
	struct words words = WORDS_INIT(&s->arena), env = WORDS_INIT(&s->arena);
	struct error err = {0};

	wish.cpus = 8; /* so that nothing looks for the threads of a rank */
	if (export_node(&wish, &node, &words, &env, &err) < 0)
		return arena_strdup(&s->arena, err.text);
	return words_join(&words, " ");
}

static void test_node(void **state)
{
	static const char *const script[] = {"train.py", "-x", NULL};
	static const char *const torchrun[] = {"torchrun", "train.py", NULL};
	static const char *const taken[] = {"torchrun", "--nnodes=4", "train.py", NULL};
	static const char *const deepspeed[] = {"deepspeed", "train.py", NULL};
	static const char *const accelerate[] = {"accelerate", "launch", "train.py", NULL};

	assert_string_equal(node_line(*state, "env", script, 1), "train.py -x");
	assert_has(node_line(*state, "env", script, 2), "RANK=$((first_rank + LOCAL_RANK))");
	assert_string_equal(
		node_line(*state, "torchrun", script, 2),
		"torchrun --nnodes=2 --nproc_per_node=2 --node_rank=$RANK --master_addr=first --master_port=1234 --no_python train.py -x");
	assert_string_equal(
		node_line(*state, "torchrun", torchrun, 8),
		"torchrun --nnodes=2 --nproc_per_node=8 --node_rank=$RANK --master_addr=first --master_port=1234 train.py");
	assert_has(node_line(*state, "torchrun", taken, 8), "--nnodes=4");
	assert_string_equal(
		node_line(*state, "accelerate", accelerate, 1),
		"accelerate launch --num_machines=2 --machine_rank=$RANK --num_processes=2 --main_process_ip=first --main_process_port=1234 --rdzv_backend=static --deepspeed_multinode_launcher=standard --multi_gpu train.py");
	assert_string_equal(node_line(*state, "mpirun", script, 2),
			    "mpirun --allow-run-as-root --hostfile /hosts -np 4 train.py -x");
	assert_string_equal(
		node_line(*state, "deepspeed", deepspeed, 2),
		"python3 -u -m deepspeed.launcher.launch --world_info=eyIwIjpbMCwxXSwiMSI6WzAsMV19 --node_rank=$RANK --master_addr=first --master_port=1234 train.py");
	assert_has(node_line(*state, "horovodrun-gloo", script, 2), "take --launcher env");
}

static void test_env(void **state)
{
	struct export_wish wish = wish_of(*state, "env", WORDS("./x"));
	const char *const *env;

	wish.job.env = WORDS("B=three", "AB=four", "AB=five");
	env = export_env(&wish);
	assert_string_equal(env[0], "A=one");
	assert_string_equal(env[1], "B=three");
	assert_string_equal(env[2], "AB=five");
	assert_null(env[3]);
}

static void test_names(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(export_dns_name("Train_1.2", &s->arena), "train-1-2");
	assert_string_equal(export_dns_name("-.x-", &s->arena), "x");
	assert_string_equal(export_dns_name("___", &s->arena), "job");
	assert_int_equal(
		strlen(export_dns_name(
			"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &s->arena)),
		44);
	assert_string_equal(export_dns_name("3d-unet", &s->arena), "job-3d-unet");
	assert_string_equal(export_dns_name("_3d", &s->arena), "job-3d");
	assert_string_equal(export_line(WORDS("a", "b\nc", "$d"), &s->arena), "a 'b?c' '$d'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_place),
		SCRATCH_TEST(test_node),
		SCRATCH_TEST(test_env),
		SCRATCH_TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
