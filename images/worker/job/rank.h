/* SPDX-License-Identifier: MIT */
/* rank.h - the first process of a rank that a launcher started (protocol.h). */
#ifndef JOB_RANK_H
#define JOB_RANK_H

#define RANK_EXIT_NOT_STARTED 125 /* the rank never became the user's command */

#include <sys/types.h>

/*
 * Connects to the supervisor of this host, whose pid becomes *supervisor unless that is NULL; -1: said
 * on stderr. `address` is the host's; "": where several hosts share one /tmp, as on one machine, it is
 * the supervisor that this process descends from.
 */
int supervisor_connect(const char *id, const char *address, pid_t *supervisor);

/*
 * Joins the supervisor of this host, waits for "go", runs the words. Returns their exit status.
 *
 * Some launchers carry the first host's environment to all others. So a rank has that of its host's
 * supervisor over the one that it was started with, and runs in the supervisor's folder.
 * `address` is as above.
 */
int rank_run(const char *id, const char *address, char *const *words);

#endif
