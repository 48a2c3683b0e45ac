/* SPDX-License-Identifier: MIT */
/* guard.h - a command that ends when nobody waits for it any more. */
#ifndef JOB_GUARD_H
#define JOB_GUARD_H

/*
 * Runs the words with this process's stdout and stderr, and returns their exit status. When stdin ends,
 * and on SIGTERM, SIGINT and SIGHUP, it ends the command and all that it started: SIGTERM, and SIGKILL
 * after so many seconds. What the command leaves in the background when it ends by itself stays.
 */
int guard_run(long grace_seconds, char *const *words);

#endif
