/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

/*
 * One process per rank, which reads its place from the environment: the variables of torch's
 * init_method env:// (docs.pytorch.org, "Distributed communication package") and of torchrun, which
 * DeepSpeed, Accelerate and JAX read too.
 */
static int env_tasks(const struct job_plan *plan, const struct job_host *host,
		     struct job_tasks *tasks, struct error *err)
{
	const struct job_host *first = &plan->hosts[0];

	(void)err;
	for (int local = 0; local < host->ranks; local++) {
		struct words env = WORDS_INIT(plan->arena);
		int rank = host->first_rank + local;

		words_addf(&env, "RANK=%d", rank);
		words_addf(&env, "WORLD_SIZE=%d", plan->world);
		words_addf(&env, "LOCAL_RANK=%d", local);
		words_addf(&env, "LOCAL_WORLD_SIZE=%d", host->ranks);
		words_addf(&env, "NODE_RANK=%d", (int)(host - plan->hosts));
		words_addf(&env, "MASTER_ADDR=%s", first->member->host->address);
		words_addf(&env, "MASTER_PORT=%s", job_port(first, 0));
		job_add_rank_task(plan, host, local, &env, tasks);
	}
	return 0;
}

const struct launcher launcher_env = {
	.name = "env",
	.help = "one process per rank, with RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT",
	.rank = 15,
	.component = "",
	.tasks = env_tasks,
};
