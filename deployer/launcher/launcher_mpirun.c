/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/launcher.h"

#include "core/str.h"

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

/* "node01:2,node02:2" of a job. */
static const char *job_host_list(const struct job_plan *plan)
{
	_cleanup_(str_release) struct str list = STR_INIT;

	for (size_t i = 0; i < plan->host_count; i++)
		str_addf(&list, "%s%s:%d", i ? "," : "", plan->hosts[i].member->host->address,
			 plan->hosts[i].ranks);
	return arena_strdup(plan->arena, list.text);
}

/*
 * A job's mpirun runs on the first host. More ranks than cores would wait for each other at full
 * speed, so they yield. Containers forbid the system call that Open MPI's vader copies with
 * (process_vm_readv), and it then fails at each message instead of once.
 */
static int mpirun_tasks(const struct job_plan *plan, const struct job_host *host,
			struct job_tasks *tasks, struct error *err)
{
	struct words words = WORDS_INIT(plan->arena);
	static const char *const no_env[] = {NULL};

	(void)err;
	if (host != plan->hosts)
		return 0;
	words_add_all(&words, WORDS("mpirun", "--allow-run-as-root", "--np"));
	words_addf(&words, "%d", plan->world);
	words_add_all(&words, WORDS("--host", job_host_list(plan), "--map-by", "slot", "--bind-to",
				    "none", "--mca", "btl_vader_single_copy_mechanism", "none"));
	if (*host->network)
		words_add_all(&words, WORDS("--mca", "btl_tcp_if_include", host->network, "--mca",
					    "oob_tcp_if_include", host->network));
	if (host->ranks > host->cores)
		words_add_all(&words, WORDS("--mca", "mpi_yield_when_idle", "1"));
	job_add_rank_words(plan, host, NULL, &words);
	job_tasks_add(tasks, &(struct job_task){.label = "t0", .words = words.list, .env = no_env});
	return 0;
}

const struct launcher launcher_mpirun = {
	.name = "mpirun",
	.help = "Open MPI's mpirun over the containers' own sshd port",
	.rank = 20,
	.needs_containers = true,
	.component = "openmpi",
	.words = mpirun_words,
	.tasks = mpirun_tasks,
	.ranks_join = true,
	.trains = "horovod",
};
