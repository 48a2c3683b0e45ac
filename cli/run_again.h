/* SPDX-License-Identifier: MIT */
/* run_again.h - a job of `run --retries` between two of its starts. */
#ifndef CLI_RUN_AGAIN_H
#define CLI_RUN_AGAIN_H

#include "cli/app/stages.h"
#include "deployer/job/record.h"

struct run_again {
	int left;    /* more starts, when this one fails */
	int pause_s; /* before the last one */
	/* the failed start before this one, until there is the record of this one; name NULL: none */
	struct job_record before;
	int lock; /* of its record; -1: none */
};

/* Writes the record of a job that ends; where that fails it warns. */
void run_keep_end(const struct job_record *record);

/* Keeps a failed start that is due to be started again, with its lock. */
void run_again_keep(struct run_again *again, struct job_record *record, const char *ended,
		    int *lock);

/* Notes how the failed start ended: with the job `next` after it, or, "", without one. */
void run_again_conclude(struct run_again *again, const char *next);

/*
 * Waits until the next start may begin. Hosts that were lost answer again then, with their containers, and have neither processes nor
 * leases of the failed start; ERROR_FAILED when that takes more than 10 minutes. Then a pause of a second, twice as long each time, a
 * minute at most. The stages have another fleet afterwards.
 */
int run_again_wait(struct run_again *again, struct stages *stages, struct error *err);

#endif
