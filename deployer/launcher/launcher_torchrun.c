/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/own_words.h"

#include "core/str.h"

static const char *const torchrun_spellings[] = {"torch.distributed.run",
						 "torch.distributed.launch", NULL};

static const char *const torchrun_command[] = {"torchrun", NULL};

static const char *const torchrun_taken[] = {"nnodes",
					     "nproc_per_node",
					     "rdzv_backend",
					     "rdzv_id",
					     "rdzv_endpoint",
					     "rdzv_conf",
					     "standalone",
					     "node_rank",
					     "master_addr",
					     "master_port",
					     "local_addr",
					     "no_python",
					     "redirects",
					     "r",
					     "tee",
					     "t",
					     NULL};

/*
 * One torchrun per host, which starts that host's ranks; the hosts meet by the c10d rendezvous at the
 * first host's address (docs.pytorch.org, "torchrun (Elastic Launch)"). The first host must take
 * itself for the rendezvous' host: torchrun compares names, and is told by is_host.
 */
static void torchrun_add(const struct job_plan *plan, const struct job_host *host,
			 struct words *words)
{
	const struct job_host *first = &plan->hosts[0];

	words_addf(words, "--nnodes=%zu", plan->host_count);
	words_addf(words, "--nproc_per_node=%d", host->ranks);
	words_add(words, "--rdzv_backend=c10d");
	words_addf(words, "--rdzv_id=%s", plan->id);
	words_addf(words, "--rdzv_endpoint=%s:%s", first->member->host->address,
		   job_port(first, 0));
	words_addf(words, "--rdzv_conf=is_host=%d", host == first);
	/*
	 * torch 1.13 with Python 3.11 finds no member for 0, its default, and for 3: "'NoneType' object has no
	 * attribute 'get'" (seen with Debian 12's). The ranks' output does not pass through torchrun.
	 */
	words_add_all(words, WORDS("--redirects=1", "--tee=1"));
}

/* The command may be torchrun's: its words then follow those that ringup adds. */
static int torchrun_tasks(const struct job_plan *plan, const struct job_host *host,
			  struct job_tasks *tasks, struct error *err)
{
	const char *const *command = plan->options->command;
	bool is_own = own_words_begin(command, torchrun_command);
	struct words words = WORDS_INIT(plan->arena), all = WORDS_INIT(plan->arena),
		     env = WORDS_INIT(plan->arena);

	if (is_own && own_words_check(command + 1, torchrun_taken, "torchrun", err) < 0)
		return -1;
	words_add(&words, is_own ? command[0] : "torchrun");
	torchrun_add(plan, host, &words);
	if (is_own) {
		words_add_all(&words, command + 1);
		own_words_add(plan, host, words.list, &all);
	} else {
		words_add(&words, "--no_python");
		job_add_rank_words(plan, host, host->member->host->address, &words);
		words_add_all(&words, command);
		all = words;
	}
	words_add(&env, "PYTHONUNBUFFERED=1");
	/* --local_addr of torch 2.0 and newer; torchrun takes each option from such a variable, too */
	words_addf(&env, "PET_LOCAL_ADDR=%s", host->member->host->address);
	job_tasks_add(tasks, &(struct job_task){.label = "t0", .words = all.list, .env = env.list});
	return 0;
}

/*
 * The same where an engine says each node's place. The rendezvous is static: all nodes come and go at once there,
 * and node 0 need not find itself among names.
 */
static int torchrun_node_words(const struct job_options *job, const struct launcher_node *node,
			       struct words *words, struct words *env, struct error *err)
{
	bool is_own = own_words_begin(job->command, torchrun_command);

	/* the torch of torchrun_add needs them, too; variables, for a runtime that has the options itself */
	if (node->tags)
		words_add_all(env, WORDS("PET_REDIRECTS=1", "PET_TEE=1"));
	if (is_own && own_words_check(job->command + 1, torchrun_taken, "torchrun", err) < 0)
		return -1;
	words_add(words, is_own ? job->command[0] : "torchrun");
	launcher_add_count(words, "nnodes", node->nodes_word, node->nodes);
	words_addf(words, "--nproc_per_node=%d", node->per_node);
	words_addf(words, "--node_rank=%s", node->rank);
	words_addf(words, "--master_addr=%s", node->address);
	words_addf(words, "--master_port=%s", node->port);
	if (!is_own)
		words_add(words, "--no_python");
	words_add_all(words, job->command + is_own);
	return 0;
}

const struct launcher launcher_torchrun = {
	.name = "torchrun",
	.help = "one torchrun per host, c10d rendezvous at the first host; CMD may be 'torchrun train.py'",
	.rank = 40,
	.component = "",
	.tasks = torchrun_tasks,
	.ranks_join = true,
	.names_hosts = true,
	.command = torchrun_command,
	.spellings = torchrun_spellings,
	.place = PLACE_NODE,
	.node_words = torchrun_node_words,
};
