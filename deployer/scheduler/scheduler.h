/* SPDX-License-Identifier: MIT */
/*
 * scheduler.h - what ringup asks of a scheduler for a job that it follows there (scheduled.h). Each has one const record.
 *
 * Text lives in the arena that is given, and is never NULL. It is as the scheduler and its nodes wrote it.
 */
#ifndef DEPLOYER_SCHEDULER_SCHEDULER_H
#define DEPLOYER_SCHEDULER_SCHEDULER_H

#include "deployer/job/record.h"

#define SCHEDULER_RANKS_MAX 1000000
#define SCHEDULER_RAW_MAX 4

enum scheduler_phase {
	SCHEDULER_GONE,	 /* nobody knows it any more */
	SCHEDULER_WAITS, /* in the queue */
	SCHEDULER_RUNS,	 /* also while it begins and ends */
	SCHEDULER_ENDED
};

/* A task that failed. */
struct scheduler_failure {
	const char *host;
	int task; /* -1: none that has a number */
	int status;
};

struct scheduler_state {
	enum scheduler_phase phase;
	const char *reason; /* why it waits, in the scheduler's own words; "" */
	const char *means;  /* what that is, and what to do; "" */
	bool is_hopeless;   /* it waits in vain */
	int patience_s; /* after so many seconds of that it is ended, since it would hold nodes for ever; 0: never */
	const char *nodes; /* where it runs */
	int printing; /* how many of its parts have begun to print, where the output is fetched */
	/* of the end */
	int status; /* 0 to 255, or 128 + N for signal N */
	bool is_cancelled;
	const char *story;			  /* of an end that no task made; "" */
	const struct scheduler_failure *failures; /* the first one first */
	size_t failure_count;
};

enum scheduler_line_kind {
	SCHEDULER_TEXT,	  /* of a task, or with task -1 of none */
	SCHEDULER_PLACED, /* the task is on the host */
	SCHEDULER_FAILED  /* the task failed, on the host with the status; it is text, too */
};

/* A line of the job's raw output. */
struct scheduler_line {
	enum scheduler_line_kind kind;
	bool is_error;
	struct scheduler_failure of;
	const char *text;
	/* The rank of a line whose task has several; -1: nobody knows. It is of all ranks, or of those of the task's node. */
	int rank;
	bool is_rank_of_node;
	/* when it was printed, as "2026-11-25T12:00:00.000000001Z": one that was read before comes once only; "" */
	const char *stamp;
};

struct scheduler {
	const char *title; /* "Slurm" */
	bool has_grace; /* each job says how long its processes have after SIGTERM; else the site does */
	/* the files in the job's folder with what the job prints, in the order in which they are read; the rest is NULL */
	const char *raw[SCHEDULER_RAW_MAX];
	/* Whether a task is a node with all its ranks, and not a rank. */
	bool (*starts_nodes)(const struct job_record *record);
	/* The roles of the job's ranks, "chief=1,worker=2", as its submission wrote them down; ""; NULL: there are none. */
	const char *(*roles)(const struct job_record *record, struct arena *arena);
	/* Takes a line of such a file apart; false: it is for nobody. */
	bool (*read)(const struct job_record *record, const char *roles, int raw, const char *line,
		     struct arena *arena, struct scheduler_line *out);
	/* Asks how the job is; an error only when the scheduler does not answer. */
	int (*ask)(const struct job_record *record, struct arena *arena,
		   struct scheduler_state *state, struct error *err);
	/* Ends the job; one that has ended is fine. */
	int (*cancel)(const struct job_record *record, struct error *err);
	/*
	 * The command that prints what the job has printed since the stamp ("": all), and with `follows` goes on. Its output
	 * is added to the first raw file. NULL: the job writes its files itself.
	 */
	const char *const *(*output)(const struct job_record *record, bool follows,
				     const char *since, struct arena *arena, struct error *err);
	/*
	 * The command that prints all that the task 0 has printed, as it came, for whoever reads it as one text. NULL: the
	 * task writes into the job's folder.
	 */
	const char *const *(*first)(const struct job_record *record, struct arena *arena,
				    struct error *err);
};

#endif
