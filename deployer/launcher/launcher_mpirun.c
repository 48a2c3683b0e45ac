/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/str.h"
#include "deployer/launcher/mpirun.h"

/* "node01:2,node02:2": what mpirun's -H takes. */
static const char *host_list(struct member *m, const struct launch *launch)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	for (size_t i = 0; i < m->fleet->count; i++)
		str_addf(&list, "%s%s:%d", i ? "," : "", m->fleet->members[i].host->address,
			 launch->program->ranks[i]);
	return arena_strdup(&m->arena, list.text);
}

/*
 * mpirun runs in the first container and reaches the others over their sshd ports, with the mounted
 * ssh_config. Interfaces are given as a network, so that NIC names may differ between hosts. The
 * secret goes by name (-x), not by value. Ranks are placed host by host, as the plan counts them.
 */
static const char *const *mpirun_words(struct member *m, const struct launch *launch)
{
	struct words words = WORDS_INIT(&m->arena);

	if (m->index != 0)
		return NULL;
	words_add_all(&words, WORDS("mpirun", "--allow-run-as-root", "--np"));
	words_addf(&words, "%d", launch->world);
	words_add_all(&words, WORDS("--host", host_list(m, launch), "--map-by", "slot", "--bind-to",
				    "none"));
	if (*m->facts.interface_cidr)
		words_add_all(&words,
			      WORDS("--mca", "btl_tcp_if_include", m->facts.interface_cidr, "--mca",
				    "oob_tcp_if_include", m->facts.interface_cidr));
	if (launch->program->needs_secret)
		words_add_all(&words, WORDS("-x", "RINGUP_SECRET"));
	for (const char *const *pair = launch->program->env; *pair; pair++)
		words_add_all(&words, WORDS("-x", *pair));
	launch_add_rank_words(m, launch, &words);
	return words.list;
}

/* Open MPI wants to be told that root is meant; its variables for that are not heard before 4.0.2. */
static const char mpirun_script[] =
	"case $(mpirun --version 2>&1) in *'Open MPI'*) set -- --allow-run-as-root \"$@\" ;; esac\n"
	"exec mpirun \"$@\"";

/* A job's mpirun runs on the first host. */
static int mpirun_tasks(const struct job_plan *plan, const struct job_host *host,
			struct job_tasks *tasks, struct error *err)
{
	struct words words = WORDS_INIT(plan->arena), env = WORDS_INIT(plan->arena);

	(void)err;
	if (host != plan->hosts)
		return 0;
	words_add_all(&words, WORDS("sh", "-c", mpirun_script, "mpirun", "-np"));
	words_addf(&words, "%d", plan->world);
	words_add_all(&words, WORDS("--host", job_host_list(plan)));
	mpirun_add_rank_words(plan, host, &words);
	mpirun_add_env(plan, &env);
	job_tasks_add(tasks,
		      &(struct job_task){.label = "t0", .words = words.list, .env = env.list});
	return 0;
}

static const char *const mpirun_starters[] = {"mpirun",	 "mpiexec", "mpiexec.hydra",
					      "orterun", "prterun", NULL};

const struct launcher launcher_mpirun = {
	.name = "mpirun",
	.help = "mpirun of Open MPI or MPICH",
	.rank = 20,
	.needs_containers = true,
	.component = "openmpi",
	.words = mpirun_words,
	.tasks = mpirun_tasks,
	.ranks_join = true,
	.spawns = true,
	.trains = "horovod",
	.starters = mpirun_starters,
	.place = PLACE_MPI,
	.node_words = mpirun_node_words,
};
