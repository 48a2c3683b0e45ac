/* SPDX-License-Identifier: MIT */
/*
 * Faults put in on purpose (--fault-inject), so that every verdict can be tested. One rank per
 * kind.
 */
#ifndef WORKER_FAULT_H
#define WORKER_FAULT_H

#include <stdbool.h>

enum fault_kind {
	FAULT_SLOW,    /* sleeps 2 ms before each collective; takes twice as long for each
			  exchange of --find-slow */
	FAULT_CORRUPT, /* flips one bit of its result before it is checked */
	FAULT_DIE,     /* kills itself in the middle of the timed iterations */
	FAULT_DROP,    /* never joins */
	FAULT_VERSION, /* says it runs another version */
	FAULT_DRIFT,   /* changes one of its weights in the middle of --sgd */
	FAULT_STOP,    /* stops itself (SIGSTOP) where FAULT_DIE would die: a hang */
	FAULT_COUNT
};

struct fault {
	int rank[FAULT_COUNT]; /* -1: none */
	int link[2];	       /* link:A-B: these two take twice as long with each other */
};

void fault_init(struct fault *fault);

/* Adds "kind:R,kind:R,link:A-B,..." to *fault; -1 if the text is not that. */
int fault_parse(struct fault *fault, const char *text);

/* Whether @rank is to show @kind. */
bool fault_hits(const struct fault *fault, enum fault_kind kind, int rank);

/* Whether the link between ranks @a and @b is to be slow. */
bool fault_hits_link(const struct fault *fault, int a, int b);

#endif
