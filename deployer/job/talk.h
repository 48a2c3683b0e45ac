/* SPDX-License-Identifier: MIT */
/*
 * talk.h - ringup's side of the conversation with a job's supervisors; images/worker/job/protocol.h
 * describes it.
 */
#ifndef DEPLOYER_JOB_TALK_H
#define DEPLOYER_JOB_TALK_H

#include "core/str.h"

#define JOB_PROTOCOL 2
#define JOB_LABEL_BYTES 16
#define JOB_LABEL_VERSIONS "v"		/* of the task that says what a host has (versions.h) */
#define JOB_CPU_MSEC_MAX 1000000000	/* where the host's count begins again */
#define JOB_INPUT_BYTES_MAX (256 * KIB) /* of stdin, on their way */

/* Adds one line: a keyword and a field that may hold anything; NULL: no field. */
void job_say(struct str *out, const char *keyword, const char *field);

enum job_event_kind {
	JOB_EVENT_NONE, /* no line of the protocol */
	JOB_EVENT_HELLO,
	JOB_EVENT_FACT,
	JOB_EVENT_READY,
	JOB_EVENT_JOIN,
	JOB_EVENT_OUTPUT,
	JOB_EVENT_TOOK,
	JOB_EVENT_CLOSED,
	JOB_EVENT_EXIT,
	JOB_EVENT_STACK,
	JOB_EVENT_STACKED,
	JOB_EVENT_CPU,
	JOB_EVENT_TROUBLE,
	JOB_EVENT_SPAWN,
	JOB_EVENT_BEAT,
	JOB_EVENT_LEFT,
	JOB_EVENT_DONE,
};

/* A line of a supervisor. Text points into the line. */
struct job_event {
	enum job_event_kind kind;
	const char *label; /* of output and exit: "3", "t0"; the name of a fact; spawn: the host */
	size_t length;	   /* of an output's text, which may hold NUL bytes */
	char *text;	   /* of output, a fact, a stack, trouble; spawn: the command */
	bool is_error;	   /* output: of stderr */
	bool is_whole;	   /* output: the line ends here */
	int rank, world;   /* join */
	int number; /* hello: the protocol; exit: the status; left, took, cpu: how many; spawn */
};

/* Reads a line, which it changes. A host may send anything: what it cannot read is JOB_EVENT_NONE. */
void job_event_read(char *line, struct job_event *event);

/* A number of a fact: 0 to 999999999, or `otherwise` for anything else. */
int job_fact_number(const char *text, int otherwise);

/* The rank of a label, or -1 for a process that starts ranks. */
int job_label_rank(const char *label);

#endif
