/* SPDX-License-Identifier: MIT */
/*
 * defaults.h - the variables that every rank has, whatever starts it: ringup on hosts (job_host_defaults), or an engine that a job
 * is exported to (export_defaults). What the person says of a variable counts more.
 */
#ifndef DEPLOYER_JOB_DEFAULTS_H
#define DEPLOYER_JOB_DEFAULTS_H

#include "core/words.h"

/* How many threads a rank's OpenMP has: the CPUs of its node divided by the node's ranks, 1 at least. */
#define JOB_THREADS "OMP_NUM_THREADS"

/* Adds them as NAME=VALUE. The text of `threads` is the value of JOB_THREADS, which is left out where it is NULL. */
void job_defaults_add(struct words *env, const char *threads);

#endif
