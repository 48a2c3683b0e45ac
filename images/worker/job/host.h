/* SPDX-License-Identifier: MIT */
/*
 * host.h - the supervisor of one host's part of a job (protocol.h says what it hears and says).
 *
 * It is one loop around poll(). Nothing in it blocks: what ringup does not take yet waits in `out`,
 * and while that is long the ranks' output is not read, so that they wait too.
 */
#ifndef JOB_HOST_H
#define JOB_HOST_H

#include "job/text.h"

#include <stdint.h>
#include <sys/types.h>

#define LABEL_BYTES 16

struct options {
	const char *id;
	const char *address; /* of this host in the cluster's network; "" when not known */
	long ports;	     /* how many free ports to name */
	long grace_seconds;  /* between SIGTERM and SIGKILL */
	bool grace_said;     /* a person asked for it: it counts too where ringup is lost */
	long lost_seconds;   /* without a line of ringup's */
};

/* One stream of a rank: its stdout or stderr. */
struct source {
	int fd; /* -1: at its end */
	bool is_error;
	bool is_terminal;   /* has no lines */
	int64_t since_usec; /* when the first byte of an unfinished line came */
	struct text line;
};

/* A process that this host starts, or a rank that joined. */
struct process {
	char label[LABEL_BYTES];
	struct list words, env; /* of a task */
	struct source sources[2];
	pid_t pid;	   /* 0: it is not started, or has ended */
	int connection;	   /* of a rank that joined, or -1 */
	struct text heard; /* on that connection */
	bool joined, began, ended;
};

/* Stdin of the one rank that has one. */
struct input {
	char label[LABEL_BYTES]; /* "": none has */
	bool is_terminal;
	unsigned short rows, columns; /* of the terminal */
	bool is_given;		      /* the rank has its end */
	bool has_ended;		      /* nothing more comes */
	bool is_closed;		      /* ringup was told that nobody reads */
	int fd;			      /* what is written to, or -1 */
	struct text waiting;	      /* for the rank to read */
};

/* A process that must be ended with the job although it does not have the job's variable. */
struct launcher {
	pid_t pid;
	uint64_t start; /* proc(5), field 22: the same pid may come again */
};

struct host {
	struct options options;
	struct text in, out;
	struct input input;
	struct list variables, defaults;
	char *folder; /* working folder of ranks; NULL: as it is */
	struct process *processes;
	size_t count;
	struct launcher *launchers;
	size_t launcher_count;
	int listener;
	char *socket_folder;
	bool going;	  /* "go" was said */
	bool input_ended; /* nobody hears us any more */
	int64_t heard_usec;
	enum { HOST_RUNS, HOST_TERMINATES, HOST_KILLS } state;
	int64_t stop_usec, swept_usec, beat_usec;
	int64_t went_usec,
		look_usec; /* when the ranks began, and when to look at their MPI; 0: no more */
	bool mpi_said;
	int64_t stacks_usec; /* until then what ranks print on stderr is their stacks; 0: it is output */
};

int64_t job_clock_usec(void);

/* facts.c: adds the fact lines, and the ports. */
void host_say_facts(struct host *host);

/* output.c */
void source_open(struct source *source, int fd, bool is_error);
/* Reads what is there and adds the lines to host->out. */
void source_read(struct host *host, struct process *process, struct source *source);
/* Says what is left of lines that do not end: of one process; */
void process_flush(struct host *host, struct process *process);
/* and of all streams when `all`, else of old ones. */
void host_flush_sources(struct host *host, bool all);

/* input.c */
/* Obeys "input", "terminal", "in", "eof" and "size"; false: it is another keyword. */
bool input_obey(struct host *host, const char *keyword, char *value, size_t length);
/* Whether the process has to get stdin and has not got it yet. */
bool input_is_for(const struct host *host, const struct process *process);
/*
 * Makes the pipe or the terminal. Returns the rank's end, which the caller closes, or -1 after saying
 * what the trouble is. A terminal becomes the process's first source.
 */
int input_open(struct host *host, struct process *process);
/* In the rank: makes `fd` its terminal, or its stdin; *is_terminal says which. */
void input_become(int fd, bool is_terminal);
/* Gives the rank what it takes now. */
void input_write(struct host *host);
/* Nobody reads it any more. */
void input_close(struct host *host);

/* process.c */
struct process *host_add_process(struct host *host, const char *label);
void host_start_tasks(struct host *host);
/* Reports the end, once. `status` is as a shell's: 128 + N for signal N. */
void process_end(struct host *host, struct process *process, int status);
/* Reaps children: tasks, and orphans of the job. */
void host_reap(struct host *host);
void host_signal_ranks(struct host *host, int number);
void host_trouble(struct host *host, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* gate.c: where ranks join. */
int gate_open(struct host *host);
void gate_close(struct host *host);
void gate_accept(struct host *host);
void gate_read(struct host *host, struct process *process);
/* What an agent asked for ended. */
void gate_spawned(struct host *host, size_t number, int status);
/* Lets all that joined begin. */
void gate_go(struct host *host);

/* stacks.c */
/* Says what every process of the job does, and then "stacked": now, or at host->stacks_usec. */
void host_say_stacks(struct host *host);
/* The time for ranks to print their stacks is over. */
void host_end_stacks(struct host *host);

/* mpi.c */
/* The ranks begin. */
void host_begin_to_look(struct host *host);
/* Says on a rank's stderr, once, that it has loaded another MPI than that of the mpirun that started it. */
void host_look_at_mpi(struct host *host, int64_t now);

/* Notes the daemons of mpirun among the parents of a rank that joined. Nothing else is the job's. */
void host_note_launchers(struct host *host, pid_t pid);

int host_run(const struct options *options);

#endif
