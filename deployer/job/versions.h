/* SPDX-License-Identifier: MIT */
/*
 * versions.h - whether all hosts of a job have the same libraries, and those of the lock where there is one.
 *
 * Ranks with two versions of one library fail late and say little: a hang in the first all-reduce, or
 * another result. So each host says what it has (deployer/remote/versions.sh) before the person's
 * command runs. A job on one host needs no answer, unless a lock says what that host is to have.
 */
#ifndef DEPLOYER_JOB_VERSIONS_H
#define DEPLOYER_JOB_VERSIONS_H

#include "deployer/job/plan.h"
#include "deployer/job/talk.h"

#include <stdint.h>

/* What the hosts have said so far. */
struct job_versions;

/* The plan, which is spread, must live as long. Lives in its arena. */
struct job_versions *job_versions_new(const struct job_plan *plan);

/*
 * Adds the words that print what a host has, in lines NAME=VERSION: of the Python that the command names, of MPI where
 * the launcher has one, and of NCCL where the host gives GPUs.
 */
int job_versions_words(const struct job_options *options, int gpus, struct words *words,
		       struct error *err);

/* Adds the task that asks a host to what the host is told. Nothing where no answer is needed. */
int job_versions_ask(const struct job_versions *versions, const struct job_host *host,
		     struct str *out, struct error *err);

/* Takes what the host says: a line of the task, or its end. */
void job_versions_hear(struct job_versions *versions, const struct job_host *host,
		       const struct job_event *event);

/* Whether all have answered, or have had their time, which begins with the first call. */
bool job_versions_are_known(struct job_versions *versions, uint64_t now_usec);

/* The first host that did not answer in its time; NULL: all did. */
const char *job_versions_silent(const struct job_versions *versions);

/*
 * NULL when all hosts that answered have the same, or "the hosts do not have the same torch: 2.1.0 on
 * node01; none on node02". With a lock also "node01 has torch 2.1.0, where ringup.lock has 2.4.0"; what only the lock
 * has is no difference, since a job need not load all of it. What to do follows. Lives in the plan's arena.
 */
const char *job_versions_differ(const struct job_versions *versions);

#endif
