/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

/* Plain SSH: one command per host starts that host's ranks. All ranks meet at rank 0's address. */
static const char *const *ssh_words(struct member *m, const struct launch *launch)
{
	struct words words = WORDS_INIT(&m->arena);

	if (*launch->program->env) {
		words_add(&words, "env");
		words_add_all(&words, launch->program->env);
	}
	launch_add_host_words(m, launch, &words);
	return words.list;
}

/* A job's ranks: one process each, which is told of no other. */
static int ssh_tasks(const struct job_plan *plan, const struct job_host *host,
		     struct job_tasks *tasks, struct error *err)
{
	(void)err;
	for (int local = 0; local < host->ranks; local++) {
		struct words env = WORDS_INIT(plan->arena);

		job_add_rank_task(plan, host, local, &env, tasks);
	}
	return 0;
}

const struct launcher launcher_ssh = {
	.name = "ssh",
	.help = "the worker: one command per host, needs no MPI; a job: one process per rank, without RANK and the like",
	.rank = 16,
	.starts_hosts = true,
	.component = "",
	.words = ssh_words,
	.tasks = ssh_tasks,
	.place = PLACE_RANK,
};
