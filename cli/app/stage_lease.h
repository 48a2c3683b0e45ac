/* SPDX-License-Identifier: MIT */
/* stage_lease.h - the GPUs of a job of `run --gpus`: leased before it, given back after it. */
#ifndef CLI_APP_STAGE_LEASE_H
#define CLI_APP_STAGE_LEASE_H

#include "cli/app/stages.h"
#include "deployer/job/plan.h"
#include "deployer/job/record.h"
#include "deployer/lease/job_leases.h"

/*
 * Leases what `wish` asks for under its name, and sets its id. It is NULL where it fails, unless hosts may have leases that
 * stage_give_back gives back. With --gpus N also its devices: NULL where no host has GPUs to lease. Hosts that
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

/*
 * Gives them back; nothing to do where nothing was leased. Names of hosts where that could not be done, and where processes of the job
 * may be, are added to `kept`.
 */
void stage_give_back(struct stages *stages, struct job_options *wish, struct words *kept);

/*
 * Gives back what jobs have that nobody looks after any more, on hosts without processes of theirs: those whose ringup was killed, and
 * those that ended when a host was lost. Until then these leases would count for some time (lease.h).
 */
void stage_free_lost(struct stages *stages);

/*
 * Ends what a job left on these hosts, and frees its GPUs there. *count is how many processes there were. The stages have the
 * fleet of these hosts then, and the cluster as before, also where it fails: when a host cannot be reached, or has processes
 * that do not end.
 */
int stage_end_leftovers(struct stages *stages, const struct job_record *record,
			const char *const *hosts, int *count, struct error *err);

#endif
