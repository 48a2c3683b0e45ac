/* SPDX-License-Identifier: MIT */
/*
 * job_leases.h - the GPUs of a job, leased on all of its hosts or on none.
 *
 * A job whose ranks see all GPUs of their hosts leases those, too: else a later job would get GPUs that this one is about
 * to use, or this one would use those of an earlier job.
 *
 * The hosts are asked what is free, the ranks are spread over it, and then each host is told to take. If one of them
 * cannot any more, all give back, and the hosts are asked again. No job holds GPUs while it waits for others, so two
 * jobs never block each other. The host with the lowest address is told first and alone, so that of two jobs for the
 * same hosts one gets all.
 *
 * A job that waits leaves a ticket on every host, named by the time when it began to wait, and renews it while it
 * asks. Later jobs get nothing on a host with an earlier ticket. The order is the same on all hosts.
 */
#ifndef DEPLOYER_LEASE_JOB_LEASES_H
#define DEPLOYER_LEASE_JOB_LEASES_H

#include "deployer/fleet.h"

struct job_lease_wish {
	const char *id, *name; /* of the job */
	int gpus;	       /* of each rank; 0: it sees all that its host gives */
	const bool
		*sees; /* with gpus 0: of each member, whether ranks run there; of one at least */
	bool forced;   /* with gpus 0: what other jobs have is no reason not to begin */
	int ranks, per_host;	    /* 0: as many as the hosts have GPUs and slots for */
	bool spread;		    /* over as many hosts as possible; else over as few */
	bool waits;		    /* until the GPUs are free */
	void (*waiting)(void *arg); /* told once when it begins to wait; or NULL */
	void *arg;
};

struct job_leases {
	/* UUIDs of each member of the fleet, NULL-terminated lists */
	const char *const **devices;
	bool leaves_out; /* some members got none */
	bool may_hold; /* it failed, and some member may have kept leases that it was told to give back */
};

/*
 * Leases GPUs for the job. ERROR_PARTIAL when no host has any, or one's are broken and
 * `ranks` is 0; ERROR_USAGE when the hosts never have so many, ERROR_FAILED
 * when they are taken: the text says why, or by whom. Members stay open. Everything lives in the arena.
 * With `gpus` 0 a host without GPUs is no error, and one whose GPUs are broken is.
 */
int fleet_lease_job(struct fleet *fleet, const struct job_lease_wish *wish, struct arena *arena,
		    struct job_leases *leases, struct error *err);

/*
 * Gives back what a job has on every member, when its own ringup knows that it has ended. Names of hosts where that
 * could not be done are added to `kept`: until fleet_free_job, the leases there count as long as lease.h says.
 */
void fleet_give_job(struct fleet *fleet, const char *id, struct words *kept);

/*
 * The same for a job whose ringup is gone, or that had a host which was lost: its leases would count for as long as those of one that
 * has only begun (lease.h). A host where processes of the job live keeps them, after 6 seconds for the supervisor to end these; with
 * `must` it is a failed member then, as one that cannot be asked is. Connects.
 */
void fleet_free_job(struct fleet *fleet, const char *id, bool must);

#endif
