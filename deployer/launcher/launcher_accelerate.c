/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/own_words.h"
#include "deployer/launcher/place.h"

static const char *const accelerate_spellings[] = {"accelerate-launch",
						   "accelerate.commands.launch",
						   "accelerate.commands.accelerate_cli", NULL};

static const char *const accelerate_command[] = {"accelerate", "launch", NULL};

static const char *const accelerate_taken[] = {
	"num_machines",	      "num_processes", "machine_rank", "main_process_ip",
	"main_process_port",  "rdzv_backend",  "no_python",    "deepspeed_multinode_launcher",
	"deepspeed_hostfile", "cpu",	       "tpu",	       NULL};

/* These choose how ranks are started; without them accelerate counts the GPUs of the host alone. */
static const char *const accelerate_kinds[] = {
	"config_file", "use_deepspeed",		 "use_fsdp", "use_megatron_lm",
	"multi_gpu",   "use_parallelism_config", NULL};

/*
 * accelerate launch (0.24 and 1.15, commands/launch.py) runs torch.distributed.run in its own process,
 * with the same number of ranks on every machine, and takes settings from --config_file. Of an option
 * that is said twice the later one counts, and what it takes from the file is only what no option says.
 */
static void accelerate_add(const struct launcher_node *node, bool has_kind, struct words *words)
{
	launcher_add_count(words, "num_machines", node->nodes_word, node->nodes);
	words_addf(words, "--machine_rank=%s", node->rank);
	launcher_add_count(words, "num_processes", node->world_word, node->world);
	words_addf(words, "--main_process_ip=%s", node->address);
	words_addf(words, "--main_process_port=%s", node->port);
	/* not pdsh, its default for several machines */
	words_add_all(words,
		      WORDS("--rdzv_backend=static", "--deepspeed_multinode_launcher=standard"));
	/* one GPU a host, or none, would start a single process there */
	if (!has_kind && node->world > 1)
		words_add(words, "--multi_gpu");
}

static int accelerate_check(const struct job_plan *plan, const char *const *options,
			    struct error *err)
{
	for (size_t i = 1; i < plan->host_count; i++)
		if (plan->hosts[i].ranks != plan->hosts[0].ranks)
			return error_set(
				err, ERROR_USAGE,
				"accelerate starts as many ranks on every host, and %s would have %d and %s %d; choose -n and --ppn so, or take --launcher env",
				plan->hosts[0].member->host->name, plan->hosts[0].ranks,
				plan->hosts[i].member->host->name, plan->hosts[i].ranks);
	return own_words_check(options, accelerate_taken, "accelerate", err);
}

static int accelerate_tasks(const struct job_plan *plan, const struct job_host *host,
			    struct job_tasks *tasks, struct error *err)
{
	const char *const *command = plan->options->command;
	bool is_own = own_words_begin(command, accelerate_command);
	const char *const *options = is_own ? command + 2 : WORDS(NULL);
	const struct job_host *first = plan->hosts;
	struct words words = WORDS_INIT(plan->arena), all = WORDS_INIT(plan->arena),
		     env = WORDS_INIT(plan->arena);
	struct error ignored = {0};

	if (accelerate_check(plan, options, err) < 0)
		return -1;
	/* as launcher_torchrun.c says why; newer ones have --tee of their own, which counts more */
	words_add_all(&env, WORDS("PET_REDIRECTS=1", "PET_TEE=1"));
	words_add_all(&words, WORDS(is_own ? command[0] : "accelerate", "launch"));
	accelerate_add(&(struct launcher_node){.nodes = (int)plan->host_count,
					       .world = plan->world,
					       .rank = arena_printf(plan->arena, "%d",
								    (int)(host - first)),
					       .address = first->member->host->address,
					       .port = job_port(first, 0)},
		       own_words_check(options, accelerate_kinds, "", &ignored) < 0, &words);
	if (!is_own) {
		words_add(&words, "--no_python");
		job_add_rank_words(plan, host, host->member->host->address, &words);
		words_add_all(&words, command);
		all = words;
	} else if (plan->world > 1) {
		words_add_all(&words, options);
		own_words_add(plan, host, words.list, &all);
	} else { /* it starts a single rank without torch.distributed.run: it is the rank itself */
		words_add_all(&words, options);
		place_add(plan, host, 0, &env);
		job_add_rank_words(plan, host, host->member->host->address, &all);
		words_add_all(&all, words.list);
	}
	job_tasks_add(tasks, &(struct job_task){
				     .label = "t0", .words = all.list, .env = words_list(&env)});
	return 0;
}

/* As accelerate_tasks, where an engine says each node's place. */
static int accelerate_node_words(const struct job_options *job, const struct launcher_node *node,
				 struct words *words, struct words *env, struct error *err)
{
	bool is_own = own_words_begin(job->command, accelerate_command);
	const char *const *options = job->command + (is_own ? 2 : 0);
	struct error ignored = {0};

	if (node->tags)
		words_add_all(env, WORDS("PET_REDIRECTS=1", "PET_TEE=1"));
	if (is_own && own_words_check(options, accelerate_taken, "accelerate", err) < 0)
		return -1;
	words_add_all(words, WORDS(is_own ? job->command[0] : "accelerate", "launch"));
	accelerate_add(node, is_own && own_words_check(options, accelerate_kinds, "", &ignored) < 0,
		       words);
	if (!is_own)
		words_add(words, "--no_python");
	words_add_all(words, options);
	return 0;
}

const struct launcher launcher_accelerate = {
	.name = "accelerate",
	.help = "one accelerate launch per host; CMD may be 'accelerate launch train.py'",
	.rank = 80,
	.component = "",
	.tasks = accelerate_tasks,
	.ranks_join = true,
	.command = accelerate_command,
	.spellings = accelerate_spellings,
	.place = PLACE_NODE,
	.node_words = accelerate_node_words,
};
