/* SPDX-License-Identifier: MIT */
/* sweep.h - the processes of a job on this host. */
#ifndef JOB_SWEEP_H
#define JOB_SWEEP_H

#include "job/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct host;

struct job_process {
	pid_t pid, parent;
	char state;	/* as proc(5) has it: 'S', 'R', 'T' ... */
	uint64_t ticks; /* of processors that it has used, with its children that have ended */
};

struct job_processes {
	struct job_process *list; /* the caller frees it */
	size_t count;
};

/*
 * All processes of the job but this one: those with its variable, descendants of this one, and the
 * noted daemons of mpirun. Zombies do not count.
 */
struct job_processes host_processes(const struct host *host);

/* Whether the ancestor is a parent of the process, or a parent's parent, and so on. */
bool process_descends(pid_t pid, pid_t ancestor);

/* NAME=VALUE texts, each with its NUL; empty when they cannot be read. The caller releases it. */
struct text process_environment(pid_t pid);

/* Says how much time of processors the job has used here so far. */
void host_say_cpu(struct host *host);

/* Sends them a signal; 0 only counts. How many there were. */
size_t host_sweep(const struct host *host, int number);

/*
 * Ends every process with the variable of the job `id`, which has no supervisor any more: SIGTERM, and
 * SIGKILL after the grace. Prints how many there were. 0, or 1 when some could not be ended.
 */
int sweep_run(const char *id, long grace_seconds);

#endif
