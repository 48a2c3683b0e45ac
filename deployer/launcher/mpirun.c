/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/mpirun.h"

#include "deployer/launcher/launcher.h"

#include <string.h>

#define MPIRUN_PRTE_MAPPING "PRTE_MCA_rmaps_default_mapping_policy=slot"

/*
 * Settings for whichever MPI there is: each reads its own variables, OMPI_MCA_ is Open MPI's, PRTE_MCA_
 * that of Open MPI 5's PRRTE, HYDRA_ MPICH's. Ranks go host by host, and are bound to no core. The first
 * host starts the daemons of all others itself, since only it may (deployer/job/spawn.h).
 */
static const char *const mpirun_env[] = {
	"OMPI_MCA_rmaps_base_mapping_policy=slot", MPIRUN_PRTE_MAPPING,
	"OMPI_MCA_hwloc_base_binding_policy=none", "PRTE_MCA_hwloc_default_binding_policy=none",
	"OMPI_MCA_plm_rsh_no_tree_spawn=1", "PRTE_MCA_plm_ssh_no_tree_spawn=1",
	/* containers forbid process_vm_readv, and these would fail at each message instead of once */
	"OMPI_MCA_btl_vader_single_copy_mechanism=none", "OMPI_MCA_smsc=^cma", "HYDRA_LAUNCHER=ssh",
	NULL};

static bool mpirun_are_neighbours(const struct job_host *a, const struct job_host *b)
{
	return *a->machine && strcmp(a->machine, b->machine) == 0;
}

/*
 * Whether hosts share a machine, as those of a lab do. They may have one name and one /dev/shm, and Open MPI
 * takes ranks of one name for neighbours: on loopback hosts they wrote into each other's shared memory, and a
 * rank crashed (seen with 4.1.4).
 */
static bool mpirun_has_neighbours(const struct job_plan *plan)
{
	for (size_t i = 0; i < plan->host_count; i++)
		for (size_t k = 0; k < i; k++)
			if (mpirun_are_neighbours(&plan->hosts[i], &plan->hosts[k]))
				return true;
	return false;
}

/* Whether --env has the name. */
static bool mpirun_is_told(const struct job_plan *plan, const char *name)
{
	size_t length = strlen(name);

	for (const char *const *pair = plan->options->env; pair && *pair; pair++)
		if (strncmp(*pair, name, length) == 0 && (*pair)[length] == '=')
			return true;
	return false;
}

/*
 * Whether a machine has more ranks than cores. They would wait for each other at full speed: Horovod on three
 * lab hosts took 146 s so, and 29 s with ranks that yield. MPI sees this by itself on one host only.
 */
static bool mpirun_is_crowded(const struct job_plan *plan)
{
	for (size_t i = 0; i < plan->host_count; i++) {
		const struct job_host *host = &plan->hosts[i];
		int ranks = 0;

		for (size_t k = 0; k < plan->host_count; k++)
			if (k == i || mpirun_are_neighbours(host, &plan->hosts[k]))
				ranks += plan->hosts[k].ranks;
		if (ranks > host->cores)
			return true;
	}
	return false;
}

/* The network between the hosts, or "". Open MPI leaves loopback out by itself, and takes some other network that the machine has. */
static const char *mpirun_network(const struct job_plan *plan)
{
	if (*plan->hosts[0].network)
		return plan->hosts[0].network;
	for (size_t i = 0; i < plan->host_count; i++)
		if (!starts_with(plan->hosts[i].member->host->address, "127."))
			return "";
	return "127.0.0.0/8";
}

void mpirun_add_env(const struct job_plan *plan, struct words *env)
{
	const struct job_host *first = plan->hosts;
	const char *network = mpirun_network(plan);

	words_add_all(env, mpirun_env);
	if (*network) {
		words_addf(env, "OMPI_MCA_btl_tcp_if_include=%s", network);
		words_addf(env, "OMPI_MCA_oob_tcp_if_include=%s", network);
		words_addf(env, "PRTE_MCA_prte_if_include=%s", network);
	}
	if (*first->interface)
		words_addf(env, "HYDRA_IFACE=%s", first->interface);
	if (mpirun_has_neighbours(plan) && !mpirun_is_told(plan, "OMPI_MCA_btl"))
		words_add(env, "OMPI_MCA_btl=self,tcp");
	if (mpirun_is_crowded(plan))
		words_add(env, "OMPI_MCA_mpi_yield_when_idle=1");
	/* else SIGKILL comes one second after mpirun has passed SIGTERM on (orte/mca/odls/base, "sigkill_timeout") */
	if (plan->options->grace_s) {
		words_addf(env, "OMPI_MCA_odls_base_sigkill_timeout=%d", plan->options->grace_s);
		words_addf(env, "PRTE_MCA_odls_base_sigkill_timeout=%d", plan->options->grace_s);
	}
}

/*
 * Takes the $1 devices of this rank's number on its host, which the launcher's variable says, from
 * the list that the job's supervisor gives every rank of the host. One line, as horovodrun hands it to a shell.
 */
static const char own_gpus_script[] =
	"gpus=$1; shift; "
	"local=${OMPI_COMM_WORLD_LOCAL_RANK:-${HOROVOD_LOCAL_RANK:-${MPI_LOCALRANKID:-}}}; own=; n=0; IFS=,; "
	"for device in ${local:+$CUDA_VISIBLE_DEVICES}; do "
	"[ $((n / gpus)) -ne \"$local\" ] || own=$own${own:+,}$device; n=$((n + 1)); done; unset IFS; "
	"[ -n \"$own\" ] && [ \"$n\" -ge $((local * gpus + gpus)) ] || { "
	"echo \"ringup: rank ${local:-?} of this host has no $gpus GPUs of its own among "
	"CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES\" >&2; exit 1; }; "
	"export CUDA_VISIBLE_DEVICES=\"$own\"; exec \"$@\"";

void mpirun_add_rank_words(const struct job_plan *plan, const struct job_host *host,
			   struct words *out)
{
	job_add_rank_words(plan, host, NULL, out);
	if (plan->options->gpus && !mpirun_is_told(plan, "CUDA_VISIBLE_DEVICES")) {
		words_add_all(out, WORDS("sh", "-c", own_gpus_script, "rank"));
		words_addf(out, "%d", plan->options->gpus);
	}
	words_add_all(out, plan->options->command);
}

/*
 * Without a list of hosts Open MPI has one slot for each processor, and starts no more ranks than that. It is allowed to, and
 * not told of more slots (--host localhost:N): then it would take the ranks for alone on their processors, and those that wait would not
 * let the others run (4.1.4, 9 ranks on 2 processors: 200 barriers took 14 s, and 0.01 s so).
 */
static void mpirun_add_crowd(struct words *env)
{
	for (const char *const *pair = mpirun_env; *pair; pair++)
		words_addf(env, "%s%s", *pair,
			   strcmp(*pair, MPIRUN_PRTE_MAPPING) == 0 ? ":oversubscribe" : "");
	words_add(env, "OMPI_MCA_rmaps_base_oversubscribe=1");
}

/* Open MPI's --allow-run-as-root is older than its variables for that; other MPIs do not know it. */
int mpirun_node_words(const struct job_options *job, const struct launcher_node *node,
		      struct words *words, struct words *env, struct error *err)
{
	(void)err;
	words_add(words, "mpirun");
	if (!job->lock || plan_choice(job->lock, "openmpi"))
		words_add_all(words, node->tags ? WORDS("--allow-run-as-root", "--tag-output")
						: WORDS("--allow-run-as-root"));
	if (node->hostfile)
		words_add_all(words, WORDS("--hostfile", node->hostfile));
	words_add(words, "-np");
	words_addf(words, "%d", node->world);
	words_add_all(words, job->command);
	if (node->hostfile)
		words_add_all(env, mpirun_env);
	else
		mpirun_add_crowd(env);
	return 0;
}
