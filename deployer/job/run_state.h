/* SPDX-License-Identifier: MIT */
/*
 * run_state.h - what run.c and run_check.c share: a job that runs.
 *
 * run.c starts the job and hears its hosts; run_check.c looks, several times a second, whether it is over. Both do that under
 * the lock of the supervisors.
 */
#ifndef DEPLOYER_JOB_RUN_STATE_H
#define DEPLOYER_JOB_RUN_STATE_H

#include "deployer/job/console/input.h"
#include "deployer/job/hang.h"
#include "deployer/job/run.h"
#include "deployer/job/spawn.h"
#include "deployer/job/supervisors.h"
#include "deployer/job/versions.h"
#include "deployer/launcher/launcher.h"

#define LOST_USEC 8000000 /* a host that says nothing for so long is lost */
#define LOST_GRACE_S 1	  /* for the others then, as PROTOCOL_LOST_GRACE_SECONDS for the lost one */

/* What a rank has done so far. */
struct run_rank {
	const struct job_host *host;
	bool began, ended;
	bool serves; /* as in struct job_task; and so */
	int grace_s;
	int status;
	uint64_t said_usec; /* when its last line came; 0: none has */
};

struct job_run {
	struct job_plan plan;
	struct supervisors *supervisors;
	struct job_spawns spawns;
	struct job_versions *versions;
	struct job_input *input; /* NULL: it has not begun, or no rank has stdin */
	struct job_output *output;
	const struct job_watch *watch;
	struct job_verdict verdict;
	struct run_rank *ranks;
	int began, ended;	/* ranks */
	int tasks, tasks_ended; /* processes that start ranks */
	int task_status;
	const struct job_host *task_host; /* of the first task that failed */
	uint64_t task_usec;		  /* when it failed, or when the work was done; 0 */
	uint64_t begin_usec, beat_usec;
	uint64_t looked_usec; /* the last look at everything */
	int slept_s;	      /* ringup itself was stopped for so long, as a laptop's lid does */
	uint64_t said_usec;   /* when a rank's last line came, or all began */
	uint64_t stacks_usec; /* when the hosts were asked for stacks; 0 */
	size_t stacked;	      /* hosts with ranks that have answered */
	uint64_t cpu_usec;    /* when the hosts were asked how much the job computes */
	struct run_cpu {
		int msec;      /* of processors, by its last answer */
		uint64_t usec; /* when that came; 0: none has */
	} * cpus;	       /* by host */
	FILE *stacks;
	struct job_hang *hang; /* what they said; NULL: they were not asked */
	const char *quietest;  /* the ranks that were quiet first, then */
	bool is_planned, is_started, is_running, is_over;
	uint64_t went_usec; /* when it began to run; 0 once the watch knows that it stays */
	bool is_lost; /* a host does not answer: the others are not to wait long for what ignores SIGTERM */
	bool is_held; /* the terminal does not take what the ranks print, and they wait */
};

/* Takes the failure, unless an earlier one counts; then the job is over. */
void run_fail(struct job_run *run, int status, int rank, const char *host, const char *reason);

/* The same, of a host. */
void run_fail_host(struct job_run *run, const struct job_host *host, const char *reason);

/* The same, where it is ringup that ends the job, so that the launcher's last lines say nothing of the reason. */
void run_end(struct job_run *run, int status, const char *reason);

const char *launcher_name(const struct job_run *run);

/* How many ranks have begun on a host. */
int run_ranks_on(const struct job_run *run, const struct job_host *host);

/* Whether all ranks but those that serve the others have ended. */
bool run_work_is_done(const struct job_run *run);

/* Whether the ranks begin in time; whether a launcher has failed; whether all is done; whether each host answers; what the
 * person wants; whether no rank says anything any more. Each ends the job where its answer says so. */
void run_check_start(struct job_run *run, uint64_t now);
void run_check_tasks(struct job_run *run, uint64_t now);
void run_check_end(struct job_run *run, uint64_t now);
void run_check_hosts(struct job_run *run, uint64_t now);
void run_check_person(struct job_run *run, uint64_t now);
void run_check_hang(struct job_run *run, uint64_t now);

/* A host says how much time of processors the job has used there: with --hang-idle it is a sign of life. */
void run_hear_cpu(struct job_run *run, size_t index, int msec);

#endif
