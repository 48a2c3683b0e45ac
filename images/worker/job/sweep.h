/* SPDX-License-Identifier: MIT */
/* sweep.h - the processes of a job on this host. */
#ifndef JOB_SWEEP_H
#define JOB_SWEEP_H

#include <stddef.h>
#include <sys/types.h>

struct host;

struct job_process {
	pid_t pid, parent;
	char state; /* as proc(5) has it: 'S', 'R', 'T' ... */
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

/* The parent of a process; 0: it is gone. */
pid_t process_parent(pid_t pid);

/* Sends them a signal; 0 only counts. How many there were. */
size_t host_sweep(const struct host *host, int number);

#endif
