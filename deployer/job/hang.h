/* SPDX-License-Identifier: MIT */
/*
 * hang.h - where the ranks of a job are that hangs.
 *
 * The hosts say what every process does (the "stack" lines of images/worker/job/protocol.h). Of each rank one place is kept:
 * the innermost frame of its main thread and the innermost one outside of installed packages, as in "synchronize
 * (torch/cuda/__init__.py:1162) from train (train.py:57)"; where no stack came, what the process waits for in the kernel.
 * Ranks that wait for others are at one place. Those that are elsewhere are what they wait for.
 */
#ifndef DEPLOYER_JOB_HANG_H
#define DEPLOYER_JOB_HANG_H

#include "core/arena.h"

struct job_hang;

struct job_hang *job_hang_new(int world, struct arena *arena);

/* Takes a line about a rank, from 0 to world - 1. The text is cleaned (core/foreign.h). */
void job_hang_hear(struct job_hang *hang, int rank, const char *text);

/*
 * Lines of text, each "  ranks 0-2 and 4 (4): PLACE": the rarest places first, five at most, each behind a line end. "" when
 * no host has said anything.
 */
const char *job_hang_places(const struct job_hang *hang, struct arena *arena);

#endif
