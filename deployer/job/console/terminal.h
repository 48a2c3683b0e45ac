/* SPDX-License-Identifier: MIT */
/*
 * terminal.h - this process's stdout and stderr, written without ever waiting for who reads them.
 *
 * A person stops a terminal with Ctrl-S, and a pipe's reader may be slow or gone. What cannot be
 * written yet is queued. Whoever produces more asks job_terminal_is_full and waits meanwhile. Not safe
 * from several threads, but job_terminal_is_full is.
 */
#ifndef DEPLOYER_JOB_CONSOLE_TERMINAL_H
#define DEPLOYER_JOB_CONSOLE_TERMINAL_H

#include "core/str.h"

#include <stdatomic.h>

struct job_terminal_part {
	int fd;
	size_t bytes;
};

struct job_terminal {
	struct str queue;
	size_t written; /* of the queue */
	struct job_terminal_part *parts;
	size_t part_count, part_room, part_first;
	atomic_bool is_full;
	int error; /* why stdout takes nothing any more: EPIPE when nobody reads it; 0: it does */
};

void job_terminal_init(struct job_terminal *terminal);

/* Queues text for stdout (1) or stderr (2), and writes what can be written. */
void job_terminal_add(struct job_terminal *terminal, int fd, const char *text, size_t length);

/* Writes what can be written at this moment. */
void job_terminal_flush(struct job_terminal *terminal);

/* Whether so much waits that more must not come. */
bool job_terminal_is_full(const struct job_terminal *terminal);

/* Waits until all is written; Ctrl-C ends the wait, and what is left is lost. Frees all. */
void job_terminal_release(struct job_terminal *terminal);

#endif
