/* SPDX-License-Identifier: MIT */
/* stage_lease.h - the GPUs of a job of `run --gpus`: leased before it, given back after it. */
#ifndef CLI_APP_STAGE_LEASE_H
#define CLI_APP_STAGE_LEASE_H

#include "cli/app/stages.h"
#include "deployer/job/plan.h"
#include "deployer/lease/job_leases.h"

/*
 * Leases what `wish` asks for, and sets its id and devices; NULL devices where no host has GPUs to lease. Hosts that
 * got none leave the cluster and the fleet, and the others are connected to again.
 */
int stage_lease(struct stages *stages, struct job_options *wish, bool spread, bool waits,
		struct error *err);

/* Gives them back; nothing to do where nothing was leased. */
void stage_give_back(struct stages *stages, struct job_options *wish);

/*
 * Gives back what the jobs of a ringup that was killed have, as long as they have not been stopped: their leases would count for some time
 * (lease.h). GPUs that a process still uses are given to nobody.
 */
void stage_free_lost(struct stages *stages);

#endif
