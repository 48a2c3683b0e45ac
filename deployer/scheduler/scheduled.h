/* SPDX-License-Identifier: MIT */
/*
 * scheduled.h - a job that a scheduler runs, as its record tells (job/record.h, member `scheduler`).
 *
 * Such a job lives without ringup. Whichever ringup looks at it next, `run`, `wait`, `logs` or `ps`, reads what its
 * script wrote into the folder, which lies on a file system that the nodes share, and asks the scheduler how it is.
 * One of them at a time follows the job, with the record's lock. What it makes of the script's files is what jobs over
 * SSH have: all.log, rank-N.log, launcher.log, and the end in the record.
 */
#ifndef DEPLOYER_SCHEDULER_SCHEDULED_H
#define DEPLOYER_SCHEDULER_SCHEDULED_H

#include "deployer/job/record.h"

struct scheduled;

/*
 * Begins to follow the job, from its first line; `shows` prints its lines and what becomes of it. `lock` is that of the
 * record, or -1: it is taken, and *scheduled is NULL when another ringup has it. Lives in the arena until
 * scheduled_close.
 */
int scheduled_open(struct job_record *record, int lock, bool shows, struct arena *arena,
		   struct scheduled **scheduled, struct error *err);

/*
 * Takes what is new. *ended: the job is over, and its record says how. An error only when the folder cannot be written,
 * or the scheduler has not answered for minutes.
 */
int scheduled_step(struct scheduled *scheduled, bool *ended, struct error *err);

/* Steps until the end; Ctrl-C is ERROR_INTERRUPTED, and the job goes on. */
int scheduled_wait(struct scheduled *scheduled, struct error *err);

/* Closes the files and the lock; NULL is fine. */
void scheduled_close(struct scheduled *scheduled);

/* Asks the scheduler to end the job; the next steps see its end. */
int scheduled_cancel(const struct job_record *record, struct error *err);

/* Brings the record of a job up to date that nobody follows; others stay as they are. */
int scheduled_settle(struct job_record *record, struct arena *arena, struct error *err);

/* Whether a scheduler has the job, and no end of it is known yet. */
static inline bool scheduled_is_open(const struct job_record *record)
{
	return *record->scheduler && !*record->ended;
}

#endif
