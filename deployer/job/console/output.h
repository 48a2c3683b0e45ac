/* SPDX-License-Identifier: MIT */
/*
 * output.h - what the ranks of a job print: each rank's own file, one file of all, and the terminal.
 *
 * FOLDER/rank-3.log has the bytes of rank 3 as they came, launcher.log the lines of processes that
 * start ranks behind "[node02] ", and all.log every line behind "[3 node02] ". A line that comes in pieces, as "loading ..." and
 * a second later " done", goes on where it was, unless another rank printed meanwhile. What a rank with a terminal
 * prints is in its own file only, and goes to this process's terminal as it is. A line for a terminal is cleaned
 * (core/foreign.h), and one for a pipe or a file is not, as srun and docker have it. Not safe from several threads: the
 * caller has a lock.
 */
#ifndef DEPLOYER_JOB_CONSOLE_OUTPUT_H
#define DEPLOYER_JOB_CONSOLE_OUTPUT_H

#include "core/arena.h"
#include "core/error.h"
#include "core/str.h"
#include "deployer/job/talk.h"
#include "deployer/job/console/terminal.h"

#include <stdio.h>

struct job_output {
	const char *folder;
	FILE *all;
	FILE **ranks;	/* one per rank; opened at the first line */
	FILE *launcher; /* the same */
	int world;
	int raw_rank; /* its bytes are those of a terminal (--tty), and have no lines; -1: no rank's */
	bool shows; /* also on this process's stdout and stderr */
	bool is_colored;
	bool is_terminal[2]; /* stdout and stderr; another file gets the bytes as they are */
	bool has_failed;     /* a file cannot be written; said once */
	struct job_terminal terminal;
	struct str line, prefix; /* of the line at work */
	/* the last line, while it has no end */
	struct {
		struct str from; /* label and host, as its prefix */
		bool is_open, is_error, is_shown, is_launcher;
	} last;
};

/* Opens the files of a job with so many ranks. */
int job_output_open(struct job_output *output, const char *folder, int world, struct arena *arena,
		    struct error *err);

/* Writes one piece of output (JOB_EVENT_OUTPUT), of a host of that name. */
void job_output_add(struct job_output *output, const struct job_event *event, const char *host);

/* Writes what is buffered; the terminal sees it at once. A file that cannot be written is a warning. */
void job_output_flush(struct job_output *output);

/* Writes all, also to a slow terminal, and closes. An output that was never opened is fine. */
void job_output_close(struct job_output *output);

/*
 * The last lines of a rank's file, at most `lines`, into the arena; "" when there are none. rank -1:
 * of launcher.log.
 */
const char *job_output_tail(const char *folder, int rank, int lines, struct arena *arena);

/* The same as they are, but for NUL bytes, which are blanks, and up to JOB_LAST_BYTES of them. */
#define JOB_LAST_BYTES (16 * KIB)
char *job_output_last(const char *folder, int rank, int lines, struct arena *arena);

#endif
