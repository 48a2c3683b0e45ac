/* SPDX-License-Identifier: MIT */
/*
 * record.h - what is kept of a job: .ringup/jobs/NAME beside the cluster file.
 *
 *   job.json       struct job_record
 *   lock           held while the ringup that runs the job lives
 *   reserve        space for the last job.json on a full disk, until the job has ended
 *   all.log, rank-N.log, launcher.log   (output.h)
 *
 * A job whose record has no end and whose lock is free was killed: its state is "lost". One of a scheduler goes
 * on, and scheduler/scheduled.h says how it is.
 *
 * A failed job that is due to be started again is "retrying", with its lock, until there is the record of
 * its next start. Then it is "failed" and names that one.
 */
#ifndef DEPLOYER_JOB_RECORD_H
#define DEPLOYER_JOB_RECORD_H

#include "plan/cluster.h"

#include <sys/types.h>

struct job_record {
	const char *name;
	const char *folder;  /* not in the file */
	const char *state;   /* starting, waiting, running, retrying, done, failed, stopped, lost */
	const char *command; /* as a person would type it */
	const char *launcher;
	const char *started, *ended; /* ISO 8601; "" */
	const char *reason;
	const char *next;  /* the job that it was started again as; "" */
	const char *newer; /* the last job that was given this name when it was taken; "" */
	int status, ranks, hosts;
	int grace_s; /* that its processes have when it is stopped; 0: JOB_GRACE_S */
	int pid;     /* of the ringup that runs it */
	/* its leases have it and, as RINGUP_JOB_ID, its processes; "" until it has its GPUs */
	const char *id;
	const char *scheduler; /* that runs the job as its `id`, with or without ringup; "" */
	const char *const *host_names; /* of the hosts with ranks; empty until it runs */
	const char *sync;	       /* job_sync_name() of the folder that it runs with; "" */
	/* hosts that may have processes of the job, which has ended; NULL: none has */
	const char *const *unswept;
	bool is_local; /* it uses no host of the cluster */
};

/*
 * Makes the folder of a new job, and takes its lock until *lock is closed. `wanted` is its name; when an ended job has
 * it, the next free one of NAME-2, NAME-3 ... is taken, and from then on NAME means that one. "" takes job-1, job-2 ...
 * ERROR_USAGE for a name that is wrong, that a host has, or whose job runs. Fills name and folder, and writes the
 * record. Of two that want one name at the same time only one gets it.
 */
int job_record_create(const struct cluster *cluster, const char *wanted, struct arena *arena,
		      struct job_record *record, int *lock, struct error *err);

int job_record_write(const struct job_record *record, struct error *err);

/* The record of a job, or of the newer one that was given its name; ERROR_USAGE when there is none of that name. */
int job_record_read(const struct cluster *cluster, const char *name, struct arena *arena,
		    struct job_record *record, struct error *err);

/* The same of its last start so far. */
int job_record_read_last(const struct cluster *cluster, const char *name, struct arena *arena,
			 struct job_record *record, struct error *err);

/* Whether there is a job of that name. */
bool job_record_exists(const struct cluster *cluster, const char *name, struct arena *arena);

/* Whether it runs at this moment. */
bool job_is_alive(const struct job_record *record);

/* All jobs, oldest first. */
int job_records_list(const struct cluster *cluster, struct arena *arena, struct job_record **list,
		     size_t *count, struct error *err);

#endif
