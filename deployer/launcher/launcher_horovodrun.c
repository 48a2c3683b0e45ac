/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/horovodrun.h"
#include "deployer/launcher/launcher.h"
#include "deployer/launcher/mpirun.h"

static int horovodrun_tasks(const struct job_plan *plan, const struct job_host *host,
			    struct job_tasks *tasks, struct error *err)
{
	(void)err;
	horovodrun_add_task(plan, host, NULL, tasks);
	return 0;
}

static const char *const horovodrun_spellings[] = {"horovod.runner.launch", NULL};

static const char *const horovodrun_starters[] = {"horovodrun", NULL};

const struct launcher launcher_horovodrun = {
	.name = "horovodrun",
	.help = "horovodrun by MPI, or by Gloo where Horovod has no MPI",
	.rank = 60,
	.component = "",
	.tasks = horovodrun_tasks,
	.ranks_join = true,
	.spawns = true,
	.starters = horovodrun_starters,
	.spellings = horovodrun_spellings,
	.place = PLACE_MPI,
	.node_words = mpirun_node_words,
};
