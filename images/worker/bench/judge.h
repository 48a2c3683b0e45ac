/* SPDX-License-Identifier: MIT */
/*
 * When --find-slow has swept often enough, and whom it may blame. Pure arithmetic on rank 0.
 *
 * What blame.h compares are the pairs' fastest times of all sweeps, or, where those differ more
 * from pair to pair, their lower decile, lower quartile or median. Either may still be a disturbed
 * one on a busy machine, so a suspicion must pass a test: a line is drawn at BLAME_RATIO times what
 * its like take. In the n sweeps that are kept the others were below it in a share q of their
 * exchanges, the suspect in a smaller share p. For an innocent one the chance of that is at most
 * exp(-n D(p, q)), D being the divergence of two coins (H. Chernoff, 1952). It is blamed when this
 * chance, times the number of those who might have been suspected, is below JUDGE_CHANCE: few
 * sweeps are enough where little disturbs, and where q is small nobody is blamed soon.
 */
#ifndef WORKER_JUDGE_H
#define WORKER_JUDGE_H

#include "bench/blame.h"

#define JUDGE_CHANCE 1e-6
#define JUDGE_SWEEPS_LEAST 6 /* before anybody is believed to be fast */
#define JUDGE_SWEEPS_SURE 12 /* before anybody is believed to be slow ... */
#define JUDGE_SECONDS_SURE 3 /* ... and how long it must last: schedulers need a while */
#define JUDGE_SECONDS_MOST \
	8 /* then what is known counts, if there were sweeps enough to know anything ... */
#define JUDGE_SECONDS_LAST \
	100 /* ... and no sweep begins that would end later, by the warm-up's begin: one among many ranks takes long */

/* Prepares @heat, but for its `bytes`, for @world ranks on the hosts @host ([world], becomes the heat's). */
void judge_init(struct heat *heat, int world, int *host);

/* Takes in a sweep: @all is each rank's times, [world * world], 0: not measured. A pair's time is
 * that of its slower end. */
void judge_add(struct heat *heat, const float *all);

/* Fills findings and unsure from all sweeps so far, @seconds after the first began. Returns whether
 * that is the verdict; else there should be another sweep. */
bool judge_enough(struct heat *heat, double seconds);

void heat_release(struct heat *heat);

#endif
