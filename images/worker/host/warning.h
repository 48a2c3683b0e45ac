/* SPDX-License-Identifier: MIT */
/*
 * Things that make a run slower than its hardware and that nothing else would tell: they do not
 * fail it. Each rank collects its own; rank 0 prints them all. They cross the network as they are.
 */
#ifndef WORKER_WARNING_H
#define WORKER_WARNING_H

#include <stdint.h>

#define WARNINGS_MAX 6 /* of one rank */
#define WARNING_BYTES 160

struct group;

/* What is the matter, why it is thought so, what to do. */
struct warning {
	int32_t rank;
	char what[WARNING_BYTES], why[WARNING_BYTES], fix[WARNING_BYTES];
};

struct warnings {
	int32_t rank, count;
	struct warning list[WARNINGS_MAX];
};

/* Adds one, with @fix as it is and @what to be filled in; returns where to put the reason, or NULL
 * if the list is full or says that already. */
struct warning *warning_add(struct warnings *warnings, const char *fix, const char *what, ...)
	__attribute__((format(printf, 3, 4)));

/* Rank 0: all ranks' warnings (@all: [world]) one by one; what several ranks of a host say counts
 * once. Returns an allocated list of *count. */
struct warning *warnings_merge(const struct group *group, struct warnings *all, int *count);

#endif
