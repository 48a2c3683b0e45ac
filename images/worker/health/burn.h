/* SPDX-License-Identifier: MIT */
/* Heats a card for some seconds, looks at it meanwhile, and counts what it calculates wrongly. */
#ifndef WORKER_BURN_H
#define WORKER_BURN_H

#include "health/burn_kernel.h"
#include "health/card.h"

struct burn {
	double tflops
		[BURN_KINDS]; /* a fused multiply-add being two operations; 0: the card does not have that */
	double seconds;		  /* of the card's time, for all kinds */
	unsigned long long wrong; /* results that differ from the first ones, or from the host's */
	int samples;		  /* how often NVML was asked meanwhile */
	int clocks;		  /* how many of them have a clock */
	double sm_mhz;		  /* the average of those */
	double power_w, celsius;  /* the most; 0: not supported */
	unsigned long long throttle; /* all reasons that were there, but for "idle" */
};

/* Runs for card->burn_sec seconds of the card's time, an equal part for each kind, or until card->deadline_usec. Fails with the reason. */
int burn_run(struct card *card, struct burn *burn, struct failure *err);

#endif
