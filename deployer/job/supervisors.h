/* SPDX-License-Identifier: MIT */
/*
 * supervisors.h - the supervisors of a job, one connection and one thread per host.
 *
 * Each host's thread hands on what its supervisor says, under one lock. The thread that decides
 * (supervisors_run) holds the same lock while it works, and gives it free in supervisors_wait.
 */
#ifndef DEPLOYER_JOB_SUPERVISORS_H
#define DEPLOYER_JOB_SUPERVISORS_H

#include "deployer/job/plan.h"
#include "deployer/job/talk.h"

struct supervisors;

/*
 * Whether lines must wait, because what they become cannot be put anywhere now. Called without the
 * lock. While it is so, the host is not read, and what its ranks print waits there.
 */
typedef bool supervisors_hold(void *arg);

/* Told of joins, output, ends and trouble of host number `index` of the fleet. */
typedef void supervisors_hear(void *arg, size_t index, const struct job_event *event);

/* Connects to nothing yet. The caller closes it. */
int supervisors_open(struct supervisors **supervisors, struct fleet *fleet, const char *id,
		     const struct job_options *options, supervisors_hear *hear,
		     supervisors_hold *hold, void *arg, struct error *err);
void supervisors_close(struct supervisors *supervisors);

/*
 * Starts a supervisor on every host, calls control(arg) on a thread of its own, and returns when all
 * supervisors and it have ended. A host whose supervisor cannot start is a failed member.
 */
void supervisors_run(struct supervisors *supervisors, void (*control)(void *arg), void *arg);

void supervisors_lock(struct supervisors *supervisors);
void supervisors_unlock(struct supervisors *supervisors);
/* Waits until somebody said something, or so long. */
void supervisors_wait(struct supervisors *supervisors, int msec);

/* Under the lock: */
bool supervisors_ready(const struct supervisors *supervisors);	/* all have said their facts */
bool supervisors_failed(const struct supervisors *supervisors); /* one never became ready */
/* All, but for hosts that have been silent for so long while they were listened to. */
bool supervisors_ended(const struct supervisors *supervisors, uint64_t silence_usec);
/* The hosts that are not ready: "node02, node03". */
const char *supervisors_waiting(const struct supervisors *supervisors, struct arena *arena);
/*
 * Tells all hosts that are ready. Lines arrive whole or, when the connection ends, not at all. What a
 * slow host does not take yet waits here, and supervisors_wait gives it more.
 */
void supervisors_tell(struct supervisors *supervisors, const char *lines);
/* Says that ringup lives to each host to which nothing else is on its way. */
void supervisors_beat(struct supervisors *supervisors);
/*
 * Ends the job on all hosts, also on those that are not ready yet: their stdin ends. Nothing more can
 * be told.
 */
void supervisors_stop(struct supervisors *supervisors);
/* Ends the waiting for those that have not ended. */
void supervisors_give_up(struct supervisors *supervisors);

/* The same for one host. */
void supervisor_tell(struct supervisors *supervisors, size_t index, const char *lines);
/* Fills the facts of the host. */
void supervisor_facts(const struct supervisors *supervisors, size_t index, struct job_host *host);
bool supervisor_has_ended(const struct supervisors *supervisors, size_t index);
/* Why one has ended that did not say its last word. Never NULL. */
const char *supervisor_story(const struct supervisors *supervisors, size_t index);
/* Takes the host for one that has just said something. */
void supervisor_heard(struct supervisors *supervisors, size_t index, uint64_t now);
uint64_t supervisor_silence_usec(const struct supervisors *supervisors, size_t index, uint64_t now);
/* Whether it said that nothing of the job is left there. */
bool supervisor_is_done(const struct supervisors *supervisors, size_t index);
/* Processes that it could not end. */
int supervisor_left(const struct supervisors *supervisors, size_t index);

#endif
