/* SPDX-License-Identifier: MIT */
/*
 * proc.h - running other programs on this machine.
 *
 * Programs are started from word arrays, never through a shell. A run ends when the program ends,
 * at its deadline, or when the person interrupts. In the last two cases the program's whole process
 * group is ended.
 */
#ifndef CORE_PROC_H
#define CORE_PROC_H

#include "core/error.h"
#include "core/str.h"

#include <stdatomic.h>
#include <sys/types.h>

/*
 * From now on this process leaves no core dump, whose pages would hold passwords and keys; for the
 * first line of main. Programs that it starts get the limit that it was started with.
 *
 * The way is a soft RLIMIT_CORE of 1 byte. A core file of less than a page is not written, and 1 is
 * the one value that also counts when kernel.core_pattern is a pipe, where 0 does not: see the
 * comments in the kernel's fs/coredump.c (umh_coredump_setup sets it for its own helpers), and
 * core(5) on pipes. A hard limit of 0 that may not be raised stays: then no file is written, and a
 * pipe's program is told the limit. PR_SET_DUMPABLE is not the way: it gives /proc/self to root, so
 * that a build without root could no longer write the uid_map of its child (user_namespaces(7)).
 * MADV_DONTDUMP is not either: libcurl, OpenSSL and cJSON keep copies in pages of their own.
 */
void proc_leave_no_core(void);

#define PROC_OUTPUT_CEILING_BYTES (16 * MIB)

/* Who runs the words in place of a process of their own, for example an ssh that is already connected. */
struct proc_runner {
	/* Hands over stdin, stdout and stderr; the caller closes its own copies. */
	int (*start)(void *state, const int standard[3], struct error *err);
	/* Does not wait. *status is set when it has ended. */
	bool (*has_ended)(void *state, int *status);
	void (*stop)(void *state);
};

struct proc {
	const char *const *words; /* argv; words[0] is looked up in PATH */
	const char *const *env;	  /* NAME=VALUE to add, NAME to leave out (putenv(3)); or NULL */
	const char *folder;	  /* working folder, or NULL */
	const void *input;	  /* given on stdin; NULL: stdin is /dev/null */
	size_t input_bytes;
	/* stdin stays open after `input` until the program or ringup ends */
	bool holds_input;
	int input_fd;	   /* > 0: stdin is this descriptor instead */
	int output_fd;	   /* > 0: stdout goes to this descriptor instead of `out` */
	int timeout_s;	   /* 0: one hour */
	bool joined;	   /* stdout and stderr both go to `out`, in their order */
	bool dies_with_us; /* it is killed whenever ringup ends */
	/* it gets ringup's stdin, stdout and stderr: for a person's shell */
	bool inherits_terminal;
	bool even_when_interrupted; /* for cleaning up: Ctrl-C does not stop it */
	const atomic_bool *stop;    /* ends it like Ctrl-C when set; may be NULL */
	/* Called for each whole line of stdout and stderr as it comes; may be NULL. */
	void (*line)(void *arg, const char *line);
	void *arg;
	bool only_lines;	   /* `out` keeps no line, and has no ceiling */
	bool (*paused)(void *arg); /* while it says true, stdout is not read; may be NULL */
	const struct proc_runner
		*runner; /* NULL: a process; `env` and `folder` are for that alone */
	void *runner_state;
};

#define PROC_PAUSE_MSEC 20 /* how often a pause is looked at */

struct proc_result {
	int status;	     /* exit status; 128 + N when signal N ended it; 127 when not found */
	struct str out, err; /* what it printed, up to the ceiling */
};

void proc_result_release(struct proc_result *result);

/*
 * 0 when the program ran to its end, with any status; err->system is ETIMEDOUT when it was ended at its deadline. The caller
 * always releases *result.
 */
int proc_run(const struct proc *proc, struct proc_result *result, struct error *err);

/* Runs words and fails unless the status is 0. The error ends with the program's last line. */
int proc_check(const char *const *words, struct error *err);

/* Sets the error for a finished run whose status is not 0: "NAME failed (status N): last line". */
int proc_failed(const struct proc *proc, const struct proc_result *result, struct error *err);

/*
 * Starts a program that outlives ringup. It has its own session and stdin from /dev/null; stdout
 * and stderr are appended to `log_path`. `env` may be NULL. *pid is its process id.
 */
int proc_spawn(const char *const *words, const char *const *env, const char *log_path, pid_t *pid,
	       struct error *err);

/* Whether `name` is an executable on PATH. */
bool proc_exists(const char *name);

#endif
