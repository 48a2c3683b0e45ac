/* SPDX-License-Identifier: MIT */
/* rank.h - the first process of a rank that a launcher started (protocol.h). */
#ifndef JOB_RANK_H
#define JOB_RANK_H

#define RANK_EXIT_NOT_STARTED 125 /* the rank never became the user's command */

/*
 * Joins the supervisor of this host, waits for "go", runs the words. Returns their exit status.
 * `address` is the host's; "" where the job has one supervisor below /tmp.
 */
int rank_run(const char *id, const char *address, char *const *words);

#endif
