/* SPDX-License-Identifier: MIT */
/*
 * How many files a process may have open (RLIMIT_NOFILE, getrlimit(2)). Rank 0 has a connection to every other rank, and
 * a usual limit is 1,024.
 */
#ifndef WORKER_LIMITS_H
#define WORKER_LIMITS_H

#include <stdbool.h>

/* Raises the limit as far as this process may. */
void limits_raise_files(void);

/* Whether accept4() answers @error, a negative errno, because no more files can be opened. */
bool limits_refused(int error);

/* Whether so few files can still be opened after @fd that a run could not go on: it needs some for shared memory, random
 * numbers and its threads. */
bool limits_is_last(int fd);

/* For messages: "Too many open files: the limit is 1024 (RLIMIT_NOFILE); raise it with 'ulimit -n'". @error is as above. */
void limits_sentence(int error, char text[128]);

#endif
