/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/str.h"

/*
 * One torchrun per host, which starts that host's ranks; the hosts meet by the c10d rendezvous at the
 * first host's address (docs.pytorch.org, "torchrun (Elastic Launch)"). The first host must take
 * itself for the rendezvous' host: torchrun compares names, and is told by is_host.
 */
static int torchrun_tasks(const struct job_plan *plan, const struct job_host *host,
			  struct job_tasks *tasks, struct error *err)
{
	const struct job_host *first = &plan->hosts[0];
	struct words words = WORDS_INIT(plan->arena), env = WORDS_INIT(plan->arena);

	(void)err;
	words_add(&words, "torchrun");
	words_addf(&words, "--nnodes=%zu", plan->host_count);
	words_addf(&words, "--nproc_per_node=%d", host->ranks);
	words_add(&words, "--rdzv_backend=c10d");
	words_addf(&words, "--rdzv_id=%s", plan->id);
	words_addf(&words, "--rdzv_endpoint=%s:%s", first->member->host->address,
		   job_port(first, 0));
	words_addf(&words, "--rdzv_conf=is_host=%d", host == first);
	/*
	 * torch 1.13 with Python 3.11 finds no member for 0, its default, and for 3: "'NoneType' object has no
	 * attribute 'get'" (seen with Debian 12's). The ranks' output does not pass through torchrun.
	 */
	words_add_all(&words, WORDS("--redirects=1", "--tee=1", "--no_python"));
	job_add_rank_words(plan, host, host->member->host->address, &words);
	words_add(&env, "PYTHONUNBUFFERED=1");
	/* --local_addr of torch 2.0 and newer; torchrun takes each option from such a variable, too */
	words_addf(&env, "PET_LOCAL_ADDR=%s", host->member->host->address);
	job_tasks_add(tasks,
		      &(struct job_task){.label = "t0", .words = words.list, .env = env.list});
	return 0;
}

const struct launcher launcher_torchrun = {
	.name = "torchrun",
	.help = "one torchrun per host, c10d rendezvous at the first host",
	.rank = 40,
	.component = "",
	.tasks = torchrun_tasks,
	.ranks_join = true,
	.names_hosts = true,
};
