/* SPDX-License-Identifier: MIT */
/* stage_job.h - what the commands of jobs share: run, ps, logs, wait, stop; and what up and down ask. */
#ifndef CLI_APP_STAGE_JOB_H
#define CLI_APP_STAGE_JOB_H

#include "cli/app/stages.h"
#include "deployer/job/record.h"

/* A job that goes on in a process of its own. */
struct detached {
	int told;			   /* where the process says that the job has begun */
	char name[JOB_NAME_BYTES_MAX + 8]; /* of the job, for the process that was called */
};

/*
 * Goes on in a new process without this terminal. In the process that was called, *is_parent becomes
 * true once detached_began was called there, and the job's name is known; a job that fails before is an error there
 * with the same status.
 */
int detach(struct detached *detached, bool *is_parent, struct error *err);

/*
 * In the new process: the job has begun and goes on, has ended well, or waits in line. From now on it writes to FOLDER/ringup.log.
 * Called again it does nothing.
 */
void detached_began(struct detached *detached, const char *name, const char *folder);

/* The stack of ringup.lock, or NULL when there is none: what was built. */
int stage_built_plan(struct stages *stages, const struct plan **plan, struct error *err);

/*
 * Makes this machine the only host, for `run --local`: no login, no container, the programs that lie
 * beside ringup. 0 slots: one per GPU. Call it instead of stage_select.
 */
int stage_local(struct stages *stages, int slots, struct error *err);

/*
 * The command of a job of cluster.yaml, with more words behind it: a text goes to a shell, unless it is a
 * launcher's own words that a shell would not change. A text of several lines has them as "$@". ERROR_USAGE where it
 * does not use them.
 */
int stage_job_command(const struct stages *stages, const struct cluster_job *job,
		      const char *const *more, const char *const **command, struct error *err);

/* ERROR_USAGE, with the file and the job, when a job of cluster.yaml, or this one, names a launcher, a role or a host that there is not. */
int stage_check_jobs(const struct stages *stages, struct error *err);
int stage_check_job(const struct stages *stages, const struct cluster_job *job, struct error *err);

/*
 * The ranks of a job of cluster.yaml in all and on a node, where the command line says something of them and of the nodes; 0: it does
 * not. The job's keys stand for what is not said, and each gives way where what is said leaves no room for it: 8 ranks on 2 nodes are 4
 * on each, and 2 nodes of 8 are 16 ranks.
 */
void stage_job_ranks(const struct cluster_job *job, bool has_roles, int nodes, int *ranks,
		     int *per_host);

/* The words of --env: NAME=VALUE, or NAME for the value that it has here. Adds NAME=VALUE. ERROR_USAGE for one without a value. */
int stage_take_env(const struct words *said, struct words *env, struct error *err);

/* The name of a job that runs on this cluster, in the arena, or NULL. */
int stage_running_job(const struct stages *stages, struct arena *arena, const char **name,
		      struct error *err);

/* The same for a job with a rank on that host; one whose hosts are not known yet counts. NULL: on any host. */
int stage_job_on(const struct stages *stages, const char *host, struct arena *arena,
		 const char **name, struct error *err);

/*
 * For commands about jobs: *names are the arguments, or without any the jobs that have not ended and have a rank on one of the hosts
 * of these sets (HOSTS_OPTION). NULL-terminated, in the context's arena. ERROR_USAGE for both, for neither, and for a host that is
 * not in the cluster.
 */
int stage_name_jobs(struct context *ctx, const struct words *sets, const char *const *arguments,
		    const char *const **names, struct error *err);

/* What a command that changes containers does while jobs run in them: neither, it refuses and names one. */
struct job_care {
	bool force; /* the jobs end with their containers */
	bool drain; /* it waits until they have ended */
};

/* The two options in a table; `care` is a struct job_care of TYPE. */
#define JOB_CARE_OPTIONS(TYPE, care)                                                      \
	{0,	   "force",                                                               \
	 NULL,	   "also while a job runs on the cluster",                                \
	 OPT_FLAG, offsetof(TYPE, care) + offsetof(struct job_care, force)},              \
	{                                                                                 \
		0, "drain", NULL,                                                         \
			"let no new job start, and wait until those that run have ended", \
			OPT_FLAG, offsetof(TYPE, care) + offsetof(struct job_care, drain) \
	}

/* Takes the cluster's lock as stage_hold does. Then no job starts, and none runs, unless it is to be ended. */
int stage_hold_idle(struct stages *stages, const struct job_care *care, int *lock,
		    struct error *err);

/* For a job that starts: no other ringup changes the cluster until *lock is closed. Jobs do not exclude each other. */
int stage_hold_for_job(struct stages *stages, int *lock, struct error *err);

#endif
