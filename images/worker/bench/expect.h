/* SPDX-License-Identifier: MIT */
/*
 * --expect and --min-percent: the measured bus bandwidth against what the hardware should give.
 *
 * The worker does not know the hardware of other hosts: who starts it says what to expect (ringup
 * works it out itself, from facts and catalog). The fastest size, out of place or in place, counts.
 */
#ifndef WORKER_EXPECT_H
#define WORKER_EXPECT_H

#include "failure.h"

struct report;

struct expect {
	double busbw;	    /* GB/s; 0: not given */
	double min_percent; /* of it; 0: no threshold */
};

/* Refuses a threshold without an expectation. */
int expect_check(const struct expect *expect, struct failure *err);

/* Makes a report that is fine so far STATUS_BELOW if it reached less than min_percent. */
void expect_judge(const struct expect *expect, struct report *report);

/* The value of the document's member `expected`: an object, or null. */
void expect_print_json(const struct expect *expect, const struct report *report);

/* One comment line, or nothing. */
void expect_show(const struct expect *expect, const struct report *report);

#endif
