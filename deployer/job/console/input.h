/* SPDX-License-Identifier: MIT */
/*
 * input.h - this process's standard input for one rank of a job.
 *
 * A thread reads it and tells the supervisor of that rank. No more than JOB_INPUT_BYTES_MAX are on their
 * way: a rank that does not read stops the reading here, and nothing else waits for it.
 */
#ifndef DEPLOYER_JOB_CONSOLE_INPUT_H
#define DEPLOYER_JOB_CONSOLE_INPUT_H

#include "deployer/job/supervisors.h"

struct job_input;

/*
 * Chooses what the ranks' stdin is. `text` is the person's "none" or the number of a rank; NULL is rank
 * 0 unless the job is detached. The pseudo-terminal needs a terminal on stdin. A stdin that is closed or
 * /dev/null is no rank's.
 */
int job_input_choose(const char *text, bool is_terminal, bool is_detached,
		     struct job_options *options, struct error *err);

/* Adds the lines that prepare the supervisor of the rank; the other one tells them to a host. */
void job_input_announce(const struct job_options *options, struct str *out);
void job_input_prepare(struct supervisors *supervisors, size_t index,
		       const struct job_options *options);

/*
 * Begins to read for the rank on host number `index`. NULL when no rank has stdin. Under the lock of
 * supervisors.h, as are the next two. The caller closes it.
 */
struct job_input *job_input_begin(struct supervisors *supervisors, size_t index,
				  const struct job_options *options, struct arena *arena);

/* What the supervisor of that host says of it (JOB_EVENT_TOOK, JOB_EVENT_CLOSED); `input` may be NULL. */
void job_input_hear(struct job_input *input, size_t index, const struct job_event *event);

/* The job is over: reads no more and restores the terminal. NULL is fine. */
void job_input_stop(struct job_input *input);

/* Without the lock, after job_input_stop. NULL is fine. */
void job_input_close(struct job_input *input);

#endif
