/* SPDX-License-Identifier: MIT */
/* stage_lease.h - the GPUs of a job of `run --gpus`: leased before it, given back after it. */
#ifndef CLI_APP_STAGE_LEASE_H
#define CLI_APP_STAGE_LEASE_H

#include "cli/app/stages.h"
#include "deployer/job/plan.h"
#include "deployer/lease/job_leases.h"

/*
 * Leases what `wish` asks for, and sets its id. With --gpus N also its devices: NULL where no host has GPUs to lease. Hosts that
 * got none leave the cluster and the fleet, and the others are connected to again.
 *
 * Without it a job for GPUs leases all that its ranks see, where the last probe found GPUs; ERROR_FAILED when others have some of
 * them, unless `force` is set. A job with an empty CUDA_VISIBLE_DEVICES in its environment needs none.
 */
struct stage_lease_wish {
	bool spread, waits, force;
	void (*waiting)(void *arg); /* job_leases.h */
	void *arg;
};

int stage_lease(struct stages *stages, struct job_options *wish, const struct stage_lease_wish *how,
		struct error *err);

/* ERROR_USAGE for --gpus where the cluster's containers were made for CPUs: they see no GPU. */
int stage_check_gpus_given(struct stages *stages, struct error *err);

/* Gives them back; nothing to do where nothing was leased. */
void stage_give_back(struct stages *stages, struct job_options *wish);

/*
 * Gives back what the jobs of a ringup that was killed have, as long as they have not been stopped: their leases would count for some time
 * (lease.h). GPUs that a process still uses are given to nobody.
 */
void stage_free_lost(struct stages *stages);

#endif
