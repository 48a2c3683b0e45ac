/* SPDX-License-Identifier: MIT */
/*
 * lease.h - who has which GPU of a host, for all clusters and users of that host.
 *
 * A lease is a file on the host, and no daemon runs there: one file per GPU in /var/lib/ringup/.leases (no cluster's
 * name begins with a dot), GPU-UUID.job for a job and GPU-UUID.up for a container whose `gpus` is a number. All of
 * them are changed under one flock of that folder. A login that is not root has a folder of its own, and sees root's.
 *
 * Nothing frees a lease but a look (remote/lease.sh). A job's counts while a process has the job's random id in its
 * words or environment, on the boot that it was taken on; that of `up` while the container's label names the GPU. So a
 * crash, `kill -9`, a reboot and `docker rm` need nobody who cleans up. Both also count for some seconds after they are
 * taken, while who took them is on the way; fleet_free_job (job_leases.h) frees those of a job that will not come. The
 * job's id and not a process id is the holder, since a supervisor in a container does not know its number on the host,
 * and numbers come again.
 *
 * A GPU that a process uses and that no job has leased is never given out (nvidia-smi --query-compute-apps).
 */
#ifndef DEPLOYER_LEASE_LEASE_H
#define DEPLOYER_LEASE_LEASE_H

#include "deployer/fleet.h"

#define LEASE_GPUS_MAX 256 /* of one host; more are not read */

struct lease_gpu {
	const char *index, *uuid; /* "0" or, of a MIG device, "0:1" */
	enum lease_state { LEASE_FREE, LEASE_LEASED, LEASE_USED, LEASE_OUTSIDE } state;
};

/* Who has a GPU. Names are the host's words, cleaned; "-" where it does not know. */
struct lease_holder {
	const char *uuid;
	const char *kind; /* "job", "up", or "process" for one without a lease */
	const char *since, *cluster, *user, *job; /* `job` of a process: its number */
};

struct lease_ticket {
	const char *count, *cluster, *user, *job;
};

/* What a host says. Lives in the member's arena. */
struct lease_answer {
	const char *none; /* why the host has no GPUs to lease; "" when it has some */
	bool is_broken;	  /* `none` says why those that it may have cannot be used */
	bool is_host_wide;
	struct lease_gpu *gpus;
	struct lease_holder *holders;
	struct lease_ticket *tickets;
	size_t gpu_count, holder_count, ticket_count, most;
	int queue;	    /* jobs that came earlier and wait */
	struct words taken; /* UUIDs */
};

/* In place of a number of GPUs: */
#define LEASE_COUNT_ALL (-1)  /* those that are free, when none is leased; else nothing is taken */
#define LEASE_COUNT_FREE (-2) /* those that are free */

struct lease_request {
	const char *kind; /* "job" or "up" */
	const char *id;	  /* of the job */
	const char *cluster, *job, *user;
	const char *ticket; /* 20 digits: when the job began to wait; "": it does not */
	int count;	    /* GPUs of this host, or one of the two above */
	const char *among;  /* all, up, or a list (remote/lease.sh) */
	int grace_s;	    /* how long it counts before its holder is there */
};

/* Reads what lease.sh printed; what is no line of it is passed over. Any text is safe. */
void lease_answer_parse(const char *text, struct arena *arena, struct lease_answer *answer);

/* How many GPUs the request may have, and how many of them are free now. */
size_t lease_gpus_total(const struct lease_answer *answer);
size_t lease_gpus_free(const struct lease_answer *answer);

/* Asks one host; `action` is list, take or give. The request's user and owner are filled in here. */
int member_lease(struct member *member, const char *action, const struct lease_request *request,
		 struct lease_answer *answer, struct error *err);

/* "job train of cluster lab (alice@desk) since TIME": who has this GPU; "" for nobody. In the arena. */
const char *lease_gpu_holder(const struct lease_answer *answer, const struct lease_gpu *gpu,
			     struct arena *arena);

/* "GPU 0,1: job train of ...; GPU 3: process 4711 of root, without a lease": of all that are not free. */
const char *lease_holders_text(const struct lease_answer *answer, struct arena *arena);

/* Among which GPUs of the member a job may choose, as lease.sh takes it. In the member's arena. */
const char *member_lease_among(struct member *member);

#endif
