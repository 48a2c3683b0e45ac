/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/horovodrun.h"
#include "deployer/launcher/launcher.h"

static int horovodrun_gloo_tasks(const struct job_plan *plan, const struct job_host *host,
				 struct job_tasks *tasks, struct error *err)
{
	(void)err;
	horovodrun_add_task(plan, host, "--gloo", tasks);
	return 0;
}

const struct launcher launcher_horovodrun_gloo = {
	.name = "horovodrun-gloo",
	.help = "horovodrun --gloo",
	.rank = 70,
	.component = "",
	.tasks = horovodrun_gloo_tasks,
	.ranks_join = true,
	.spawns = true,
};
