/* SPDX-License-Identifier: MIT */
/*
 * Faults put in on purpose (--fault-inject), so that every verdict can be tested. One rank per
 * kind.
 */
#ifndef WORKER_FAULT_H
#define WORKER_FAULT_H

#include "failure.h"

#include <stdbool.h>

enum fault_kind {
	FAULT_SLOW,    /* sleeps 2 ms before each collective; takes twice as long for each
			  exchange of --find-slow */
	FAULT_CORRUPT, /* flips one bit of its result before it is checked */
	FAULT_DIE,     /* kills itself */
	FAULT_DROP,    /* takes no further part: its main thread stops working */
	FAULT_VERSION, /* says it runs another version */
	FAULT_DRIFT,   /* changes one of its weights in the middle of --sgd */
	FAULT_STOP,    /* stops itself (SIGSTOP): a hang */
	FAULT_COUNT
};

struct fault {
	int rank[FAULT_COUNT];	    /* -1: none */
	enum phase at[FAULT_COUNT]; /* die, drop, stop: in the middle of which phase */
	int link[2];		    /* link:A-B: these two take twice as long with each other */
};

void fault_init(struct fault *fault);

/* How a fault is written, such as "slow:R" or "stop:R[@PHASE]"; NULL after the last one. */
const char *fault_form(int index);

/* The highest rank that any fault is for; -1: there is no fault. */
int fault_last_rank(const struct fault *fault);

/* Adds "kind:R,kind:R@PHASE,link:A-B,..." to *fault; -1 if the text is not that. die, drop and stop
 * take a phase: join (the default of drop), version, bootstrap, first, run (the default of die and
 * stop), pairs, leave-one-out, one, sum, server or async. */
int fault_parse(struct fault *fault, const char *text);

/* Called in the middle of @phase on @rank: dies, stops or drops out if *fault says so. */
void fault_strike(const struct fault *fault, enum phase phase, int rank);

/* Whether *fault has @kind for @rank. */
bool fault_hits(const struct fault *fault, enum fault_kind kind, int rank);

/* Whether *fault makes the link between ranks @a and @b slow. */
bool fault_hits_link(const struct fault *fault, int a, int b);

#endif
