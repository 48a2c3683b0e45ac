/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/horovodrun.h"

#include "deployer/launcher/mpirun.h"

#define PROGRAM "horovodrun"

/*
 * horovodrun (Horovod 0.28, horovod/runner) first runs `ssh HOST true` for every other host, and then
 * mpirun, or `ssh HOST 'cd FOLDER; env NAME=VALUE... WORDS'` for every rank. It tells ssh
 * to trust any host key; but what it finds as ssh is the job's agent, which has no host keys.
 *
 * --network-interfaces keeps it from starting services that look for a common one, and that get a secret
 * on their command lines. With one host it looks for 127.0.0.1 in it. --disable-cache: it would believe for
 * an hour that the hosts are as they were.
 */
void horovodrun_add_task(const struct job_plan *plan, const struct job_host *host, const char *flag,
			 struct job_tasks *tasks)
{
	struct words words = WORDS_INIT(plan->arena), env = WORDS_INIT(plan->arena);

	if (host != plan->hosts)
		return;
	words_add_all(&words, WORDS(PROGRAM, "-np"));
	words_addf(&words, "%d", plan->world);
	words_add_all(&words, WORDS("-H", job_host_list(plan), "--disable-cache"));
	if (plan->host_count > 1 && *host->interface)
		words_add_all(&words, WORDS("--network-interfaces", host->interface));
	if (flag)
		words_add(&words, flag);
	mpirun_add_rank_words(plan, host, &words);
	mpirun_add_env(plan, &env);
	job_tasks_add(tasks,
		      &(struct job_task){.label = "t0", .words = words.list, .env = env.list});
}
