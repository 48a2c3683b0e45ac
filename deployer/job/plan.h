/* SPDX-License-Identifier: MIT */
/*
 * plan.h - a training job: what the person asks for, what each host said, and which rank runs where.
 *
 * Everything lives in the arena of the plan. Text is never NULL; lists are NULL-terminated.
 */
#ifndef DEPLOYER_JOB_PLAN_H
#define DEPLOYER_JOB_PLAN_H

#include "deployer/fleet.h"
#include "deployer/job/roles.h"

#define JOB_ID_BYTES 24

struct launcher;
struct plan;

/* What one rank's stdin is; that of the others is /dev/null. */
enum job_input_kind { JOB_INPUT_NONE, JOB_INPUT_PIPE, JOB_INPUT_TERMINAL };

#define JOB_GRACE_S 4 /* where nobody says how long a job's processes have after SIGTERM */

struct job_options {
	const char *name; /* of the job: letters, digits, '-', '_' and '.' */
	const struct launcher *launcher;
	/* which rank reads ringup's stdin, and how */
	enum job_input_kind input;
	int input_rank;
	const char *const *command;
	const char *const *env; /* NAME=VALUE for every rank */
	const char *workdir;	/* "": where the container's commands start */
	/* instead of workdir, one per member of the fleet; NULL: it is the same everywhere */
	const char *const *workdirs;
	int ranks, per_host;	       /* 0: as many as the hosts have slots */
	const struct job_roles *roles; /* NULL: all ranks are alike; else `ranks` is theirs */
	int gpus;		       /* that each rank sees; 0: all of its host */
	int timeout_s;		       /* of the whole job; 0: none */
	int hang_timeout_s;	       /* without a line of any rank; 0: none */
	bool hang_idle;		       /* only while its processes use almost no processor */
	int start_timeout_s;	       /* until all ranks have begun; 0: 60 */
	int grace_s;	     /* from SIGTERM to SIGKILL when the job ends; 0: JOB_GRACE_S */
	bool mixed_versions; /* the hosts' libraries may differ */
	const char *id;	     /* that GPUs were leased for; NULL: a new one */
	/* the GPUs that were leased on each member of the fleet (job_leases.h); NULL: none were */
	const char *const *const *devices;
	const struct plan *lock; /* hosts without containers must have its libraries; or NULL */
};

/* Seconds, of what options and records say: a positive number, or nothing. */
static inline int job_grace_s(int said_s)
{
	return said_s > 0 ? said_s : JOB_GRACE_S;
}

/* Where the ranks of a host run; "" as in job_options. */
static inline const char *job_workdir(const struct job_options *options,
				      const struct member *member)
{
	return options->workdirs ? options->workdirs[member->index] : options->workdir;
}

/* One host's part. The supervisor there says the facts (images/worker/job/protocol.h). */
struct job_host {
	struct member *member;
	const char *
		machine; /* equal for hosts that share one machine, as those of a lab; "" unknown */
	int cores, gpus;
	/* what CUDA_VISIBLE_DEVICES may name there, "2" and so on, gpus of them; NULL: 0, 1 and so on */
	const char *const *devices;
	const char *interface; /* that owns the host's address in the cluster */
	const char *network;   /* its network, "10.0.0.0/24" */
	struct words rdma;     /* "mlx5_0:1": its ports of InfiniBand and RoCE that have a link */
	struct words ports;    /* that were free a moment ago; each task takes its own */
	int first_rank, ranks;
};

struct job_plan {
	const struct job_options *options;
	struct arena *arena;
	char id[JOB_ID_BYTES];
	struct job_host *hosts; /* only those with ranks */
	size_t host_count;
	int world; /* ranks in all */
};

/* A process that a host's supervisor starts. */
struct job_task {
	const char *label; /* its rank, "3", or "t0" when it starts ranks itself */
	const char *const *words;
	const char *const *env; /* NAME=VALUE */
	/*
	 * The rank is ended once all ranks that do not serve have ended well. It may go on by itself for
	 * grace_s before. From then on its status does not count.
	 */
	bool serves;
	int grace_s;
};

struct job_tasks {
	struct arena *arena;
	struct job_task *list;
	size_t count;
};

/* A host that has said nothing yet. Its ports live in the member's arena. */
void job_host_init(struct job_host *host, struct member *member);

void job_tasks_add(struct job_tasks *tasks, const struct job_task *task);

/*
 * Spreads the ranks over hosts: in the order of the cluster file, each up to its slots. Hosts that
 * get none are left out. ERROR_USAGE when there are fewer slots than ranks; ERROR_PARTIAL when a host without containers
 * has not the GPUs that `gpus` names.
 */
int job_plan_ranks(struct job_plan *plan, struct error *err);

/* A random one. */
int job_new_id(char id[JOB_ID_BYTES], struct error *err);

/* Gives the plan an id and its hosts, which have said nothing yet. */
int job_plan_init(struct job_plan *plan, struct fleet *fleet, const struct job_options *options,
		  struct arena *arena, struct error *err);

/*
 * For a dry run: the plan by the members' facts, where they have some, with one slot per host where nothing says more,
 * and without ports;
 * FOLDER stands for ringup's folder on a host. Lives in the arena.
 */
int job_plan_without_hosts(struct fleet *fleet, const struct job_options *options,
			   struct arena *arena, struct job_plan *plan, struct error *err);

/* The host of a rank. */
const struct job_host *job_host_of(const struct job_plan *plan, int rank);

/* A port of the host, number `index`; "PORT" when it did not name so many (a dry run). */
const char *job_port(const struct job_host *host, size_t index);

/* "10.0.0.1:2,10.0.0.2:2": the hosts and their ranks, as mpirun and horovodrun take them. */
const char *job_host_list(const struct job_plan *plan);

/*
 * NAME=VALUE that every rank on this host gets unless its container or the person sets the name:
 * how many threads, and the interface for Gloo, NCCL and UCX.
 */
const char *const *job_host_defaults(const struct job_plan *plan, const struct job_host *host);

/* "CUDA_VISIBLE_DEVICES=2,3": all devices of a host that has some. In the arena. */
const char *job_visible_devices(const struct job_host *host, struct arena *arena);

/*
 * Adds the task that runs the person's command as one rank of the host, with the launcher's NAME=VALUE
 * in `env`, and CUDA_VISIBLE_DEVICES when --gpus was given.
 */
void job_add_rank_task(const struct job_plan *plan, const struct job_host *host, int local_rank,
		       struct words *env, struct job_tasks *tasks);

/*
 * The words that a launcher starts a rank with, before the command: ringup-job rank --id ID --. `address`
 * is that of the host, or NULL where the words are the same on all hosts.
 */
void job_add_rank_words(const struct job_plan *plan, const struct job_host *host,
			const char *address, struct words *out);

#endif
