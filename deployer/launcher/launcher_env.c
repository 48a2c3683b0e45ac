/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/place.h"

/* One process per rank, which reads its place from the environment. */
static int env_tasks(const struct job_plan *plan, const struct job_host *host,
		     struct job_tasks *tasks, struct error *err)
{
	(void)err;
	for (int local = 0; local < host->ranks; local++) {
		struct words env = WORDS_INIT(plan->arena);

		place_add(plan, host, local, &env);
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
	.place = PLACE_RANK,
};
