/* SPDX-License-Identifier: MIT */
/*
 * launcher.h - ways to start one program on every rank. Each is a const record in launcher_NAME.c.
 *
 * A launcher starts the worker, which it knows through struct program (`words`), or a person's job
 * (`tasks`), or both. No other file knows a launcher by its name, so a new launcher is one new file.
 */
#ifndef DEPLOYER_LAUNCHER_LAUNCHER_H
#define DEPLOYER_LAUNCHER_LAUNCHER_H

#include "deployer/fleet.h"
#include "deployer/job/plan.h"
#include "plan/plan.h"

/*
 * What runs on every rank. The first word is a program of the image, or on a host without
 * containers one that `up` put there. In a word, the launcher replaces "@{NAME}":
 *
 *   @{world}    ranks in all
 *   @{root}     HOST:PORT of rank 0's host, a port that is free for this job
 *   @{address}  of this host in the cluster's network      (host_words only)
 *   @{host}     its name in the cluster file               (host_words only)
 *   @{rank}     the first rank of this host                (host_words only)
 *   @{ranks}    how many ranks it has                      (host_words only)
 */
struct program {
	const char *title; /* for messages: "the worker" */
	/* Starts one rank. The launcher's environment variables say which one it is. */
	const char *const *rank_words;
	/* Starts all ranks of one host. NULL: the program cannot do that. */
	const char *const *host_words;
	const char *const *env; /* NAME=VALUE for every rank */
	bool needs_secret;	/* $RINGUP_SECRET */
	const int *ranks;	/* per member of the fleet: ranks on that host */
	/* Whether this exit status and output mean that the program never started. */
	bool (*never_began)(const struct proc_result *result);
};

/* One start of a program on a fleet; launch_plan fills it. */
struct launch {
	struct fleet *fleet;
	const struct program *program;
	int world;		  /* ranks in all */
	const int *first_ranks;	  /* per member: its first rank */
	const char *root_address; /* where rank 0's rendezvous listens */
	int root_port;
	int timeout_s; /* of the whole run */
};

/* What an engine that starts the nodes' programs itself has to give them (deployer/export). */
enum launcher_place {
	PLACE_NONE,  /* it cannot start this launcher's ranks */
	PLACE_RANK,  /* one process per rank, with RANK, WORLD_SIZE and the like (place.h) */
	PLACE_NODE,  /* one process per node, `node_words`, which starts the ranks there */
	PLACE_MPI,   /* what an MPI gives its ranks */
	PLACE_ROLES, /* TF_CONFIG, one process per rank */
};

/* A node of such an engine. Text may be that engine's own variable, as "$(RANK)". */
struct launcher_node {
	int nodes, per_node, world;
	const char *nodes_word,
		*world_word;	    /* the engine's own words for two of them; NULL: the numbers */
	const char *id;		    /* of the job, the same on all nodes */
	const char *rank;	    /* of the node: 0, 1 and so on */
	const char *address, *port; /* where the ranks meet, on node 0 */
	const char *hostfile;	    /* for mpirun; NULL: all ranks are here */
	bool tags; /* ranks whose lines come together have their numbers before them (scheduler/rank_tag.h) */
};

/* --NAME=NUMBER, or with the engine's own word for the number. */
void launcher_add_count(struct words *words, const char *option, const char *word, int number);

struct launcher {
	const char *name, *help;
	int rank;	       /* the default is the lowest; no two are alike */
	bool needs_containers; /* `words` need the mesh of sshds that only containers have */
	bool starts_hosts;     /* starts one command per host: the program must have host_words */
	const char *component; /* that the worker needs in the image: "openmpi"; "": none */
	/*
	 * The words to run in this member's container, in the member's arena. NULL when another
	 * member's words start this member's ranks.
	 */
	const char *const *(*words)(struct member *member, const struct launch *launch);
	/*
	 * For `ringup run`: the processes that the supervisor of this host starts. NULL: it starts no
	 * jobs.
	 */
	int (*tasks)(const struct job_plan *plan, const struct job_host *host,
		     struct job_tasks *tasks, struct error *err);
	/* Its tasks start the ranks, which then join the supervisors of their hosts. */
	bool ranks_join;
	/* It starts programs on other hosts, by the agent that it takes for ssh (job/spawn.h). */
	bool spawns;
	/* It names rank 0's host to the ranks as that host calls itself, which the others may not know. */
	bool names_hosts;
	/* The roles that its ranks may have (--roles); NULL: all ranks are alike. */
	const struct job_role_kind *roles;
	/* `auto` takes it where this component is in the stack; NULL: only by its rank. */
	const char *trains;
	/* And, before that, where the person's command begins with these words; NULL: there are none. */
	const char *const *command;
	/* Other names of what `command` or `starters` start: programs, and modules of Python; NULL: there are none. */
	const char *const *spellings;
	/*
	 * Programs that start ranks as this launcher does, and whose own options cannot be taken over. A command that
	 * begins with one of them would start them again from each rank, so `auto` and this launcher refuse it.
	 */
	const char *const *starters;
	/*
	 * For `ringup export`: with PLACE_NODE the words that start a node's ranks of a job, with PLACE_MPI
	 * those of mpirun, for a list of hosts that it is given otherwise; and NAME=VALUE for them.
	 */
	enum launcher_place place;
	int (*node_words)(const struct job_options *job, const struct launcher_node *node,
			  struct words *words, struct words *env, struct error *err);
};

/* All launchers, NULL-terminated. */
extern const struct launcher *const launchers[];

/*
 * The launcher of that name that starts the worker, or for NULL the default. ERROR_USAGE lists the
 * known ones.
 */
int launcher_find(const char *name, const struct launcher **launcher, struct error *err);

/* What `auto` looks at. */
struct launcher_wish {
	const struct plan *plan;    /* what was built, or NULL where that is not known */
	const char *const *command; /* the person's, or NULL */
	bool has_roles;		    /* the launcher must know roles */
};

/*
 * The same for jobs. For "auto" the command decides, or else the stack, or else the rank. ERROR_USAGE also for a command
 * that begins with one of a launcher's `starters`.
 */
int launcher_find_for_job(const char *name, const struct launcher_wish *wish,
			  const struct launcher **launcher, struct error *err);

/* Whether the launcher of that name, as a job's record has it, starts a node's ranks itself where an engine starts it. */
bool launcher_starts_nodes(const char *name);

/* Whether some launcher knows the command as its own words, as `auto` does. */
bool launcher_has_words(const char *const *command);

/* Ranks on one host: its slots, or else one per GPU that it gives (gpus.h), at least 1. */
int member_slots(struct member *member);

/* For launchers: adds the program's words, with every @{NAME} replaced. */
void launch_add_rank_words(struct member *member, const struct launch *launch, struct words *out);
void launch_add_host_words(struct member *member, const struct launch *launch, struct words *out);

/*
 * Plans the program's start: counts ranks and draws a port for the rendezvous. ERROR_USAGE when
 * this launcher cannot start the program on this fleet. first_ranks lives in the arena; everything
 * else is borrowed.
 */
int launch_plan(struct fleet *fleet, const struct launcher *launcher, const struct program *program,
		int timeout_s, struct arena *arena, struct launch *launch, struct error *err);

/* All words to run in this member's container (bringup.h, member_exec_words); NULL: nothing. */
const char *const *launch_words(struct member *member, const struct launch *launch,
				const struct launcher *launcher);

/*
 * Runs it to its end on all hosts at once. *root has the output and the status of rank 0's host,
 * with text NULL when there is none; the caller releases it. Members that cannot start their ranks
 * keep their error, and ringup then does not wait for the others.
 */
void launch_run(const struct launch *launch, const struct launcher *launcher,
		struct proc_result *root);

#endif
