/* SPDX-License-Identifier: MIT */
#include "deployer/launcher/mpirun.h"

/*
 * Settings for whichever MPI there is: each reads its own variables, OMPI_MCA_ is Open MPI's, PRTE_MCA_
 * that of Open MPI 5's PRRTE, HYDRA_ MPICH's. Ranks go host by host, and are bound to no core. The first
 * host starts the daemons of all others itself, since only it may (deployer/job/spawn.h).
 */
static const char *const mpirun_env[] = {
	"OMPI_MCA_rmaps_base_mapping_policy=slot", "PRTE_MCA_rmaps_default_mapping_policy=slot",
	"OMPI_MCA_hwloc_base_binding_policy=none", "PRTE_MCA_hwloc_default_binding_policy=none",
	"OMPI_MCA_plm_rsh_no_tree_spawn=1", "PRTE_MCA_plm_ssh_no_tree_spawn=1",
	/* containers forbid process_vm_readv, and these would fail at each message instead of once */
	"OMPI_MCA_btl_vader_single_copy_mechanism=none", "OMPI_MCA_smsc=^cma", "HYDRA_LAUNCHER=ssh",
	NULL};

/* More ranks than cores would wait for each other at full speed, so they yield. */
void mpirun_add_env(const struct job_host *first, struct words *env)
{
	words_add_all(env, mpirun_env);
	if (*first->network) {
		words_addf(env, "OMPI_MCA_btl_tcp_if_include=%s", first->network);
		words_addf(env, "OMPI_MCA_oob_tcp_if_include=%s", first->network);
		words_addf(env, "PRTE_MCA_prte_if_include=%s", first->network);
	}
	if (*first->interface)
		words_addf(env, "HYDRA_IFACE=%s", first->interface);
	if (first->ranks > first->cores)
		words_add(env, "OMPI_MCA_mpi_yield_when_idle=1");
}
