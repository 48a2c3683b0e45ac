/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/own_words.h"
#include "deployer/launcher/place.h"

#include "core/str.h"

#include <openssl/evp.h>
#include <string.h>

static const char *const deepspeed_spellings[] = {"deepspeed.launcher.runner", NULL};

static const char *const deepspeed_command[] = {"deepspeed", NULL};

static const char *const deepspeed_taken[] = {"H",
					      "hostfile",
					      "i",
					      "include",
					      "e",
					      "exclude",
					      "num_nodes",
					      "num_gpus",
					      "num_accelerators",
					      "master_addr",
					      "master_port",
					      "launcher",
					      "launcher_args",
					      "ssh_port",
					      "force_multi",
					      "no_ssh_check",
					      NULL};

/* What `deepspeed` (0.10 to 0.19, launcher/launch.py) understands before the script, as far as ranks see it. */
struct deepspeed_words {
	bool is_module, is_program, no_local_rank;
	const char *const *script; /* and its arguments */
};

static int deepspeed_read(const char *const *options, struct deepspeed_words *words,
			  struct error *err)
{
	for (; *options && **options == '-'; options++) {
		if (strcmp(*options, "--module") == 0)
			words->is_module = true;
		else if (strcmp(*options, "--no_python") == 0)
			words->is_program = true;
		else if (strcmp(*options, "--no_local_rank") == 0)
			words->no_local_rank = true;
		else if (own_words_check(options, deepspeed_taken, "deepspeed", err) < 0)
			return -1;
		else
			return error_set(
				err, ERROR_USAGE,
				"ringup starts the ranks in deepspeed's place, and does not know %s; leave it out, or start the script itself: --launcher env -- python3 ...",
				*options);
	}
	if (!*options)
		return error_set(err, ERROR_USAGE, "deepspeed: the script is missing");
	words->script = options;
	return 0;
}

/* The Python beside the program: "/opt/venv/bin/python3" for "/opt/venv/bin/deepspeed". */
static const char *deepspeed_python(const char *program, struct arena *arena)
{
	const char *slash = strrchr(program, '/');

	return slash ? arena_printf(arena, "%.*s/python3", (int)(slash - program), program)
		     : "python3";
}

static const char *const *deepspeed_rank_words(const struct job_plan *plan,
					       const struct deepspeed_words *own, int local_rank)
{
	struct words words = WORDS_INIT(plan->arena);

	if (!own->is_program)
		words_add_all(
			&words,
			WORDS(deepspeed_python(plan->options->command[0], plan->arena), "-u"));
	if (own->is_module)
		words_add(&words, "-m");
	words_add(&words, *own->script);
	if (!own->no_local_rank)
		words_addf(&words, "--local_rank=%d", local_rank);
	words_add_all(&words, own->script + 1);
	return words.list;
}

/*
 * The ranks as deepspeed's own starter of one node makes them: torch's variables, those of its own, and
 * --local_rank behind the script. deepspeed itself would go to the other hosts by pdsh or ssh.
 */
static int deepspeed_tasks(const struct job_plan *plan, const struct job_host *host,
			   struct job_tasks *tasks, struct error *err)
{
	bool is_own = own_words_begin(plan->options->command, deepspeed_command);
	struct deepspeed_words own = {0};

	if (is_own && deepspeed_read(plan->options->command + 1, &own, err) < 0)
		return -1;
	for (int local = 0; local < host->ranks; local++) {
		struct words env = WORDS_INIT(plan->arena);

		place_add(plan, host, local, &env);
		words_addf(&env, "LOCAL_SIZE=%d", host->ranks);
		words_addf(&env, "CROSS_RANK=%d", (int)(host - plan->hosts));
		words_addf(&env, "CROSS_SIZE=%zu", plan->host_count);
		job_add_rank_task(plan, host, local, &env, tasks);
		if (is_own)
			tasks->list[tasks->count - 1].words =
				deepspeed_rank_words(plan, &own, local);
	}
	return 0;
}

/* {"0":[0,1],"1":[0,1]} in base64: the GPUs of each node, as launch.py wants them. */
static const char *deepspeed_world(const struct launcher_node *node, struct arena *arena)
{
	_cleanup_(str_release) struct str world = STR_INIT;
	unsigned char *out;

	for (int i = 0; i < node->nodes; i++) {
		str_addf(&world, "%s\"%d\":[", i ? "," : "{", i);
		for (int gpu = 0; gpu < node->per_node; gpu++)
			str_addf(&world, "%s%d", gpu ? "," : "", gpu);
		str_add(&world, "]");
	}
	str_add(&world, "}");
	out = arena_alloc(arena, 4 * (world.length + 2) / 3 + 1);
	EVP_EncodeBlock(out, (const unsigned char *)world.text, (int)world.length);
	return (const char *)out;
}

/*
 * Where an engine says each node's place: deepspeed's own starter of one node (0.10 to 0.19, launcher/launch.py), which
 * `deepspeed` itself would start there by pdsh or ssh.
 */
static int deepspeed_node_words(const struct job_options *job, const struct launcher_node *node,
				struct words *words, struct words *env, struct error *err)
{
	bool is_own = own_words_begin(job->command, deepspeed_command);
	struct deepspeed_words own = {0};

	(void)env;
	if (is_own && deepspeed_read(job->command + 1, &own, err) < 0)
		return -1;
	words_add_all(words,
		      WORDS(is_own ? deepspeed_python(job->command[0], words->arena) : "python3",
			    "-u", "-m", "deepspeed.launcher.launch"));
	words_addf(words, "--world_info=%s", deepspeed_world(node, words->arena));
	words_addf(words, "--node_rank=%s", node->rank);
	words_addf(words, "--master_addr=%s", node->address);
	words_addf(words, "--master_port=%s", node->port);
	if (!is_own)
		words_add_all(words, WORDS("--no_python", "--no_local_rank"));
	words_add_all(words, job->command + is_own);
	return 0;
}

const struct launcher launcher_deepspeed = {
	.name = "deepspeed",
	.help = "ranks as deepspeed starts them on one host; CMD may be 'deepspeed train.py'",
	.rank = 90,
	.component = "",
	.tasks = deepspeed_tasks,
	.command = deepspeed_command,
	.spellings = deepspeed_spellings,
	.place = PLACE_NODE,
	.node_words = deepspeed_node_words,
};
