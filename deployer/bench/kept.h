/* SPDX-License-Identifier: MIT */
/* kept.h - .ringup/history/KIND/N.json: one document for each run that is kept, under ascending numbers. */
#ifndef DEPLOYER_BENCH_KEPT_H
#define DEPLOYER_BENCH_KEPT_H

#include "core/json.h"
#include "plan/cluster.h"

struct kept {
	const char *folder;
	const char **names; /* of its files, ascending */
};

/* Makes the folder where there is none, and reads the last @most documents into an array, the oldest first (the caller
 * frees it). One that cannot be read is passed over: it is no reason not to measure. */
int kept_read(const struct cluster *cluster, const char *kind, size_t most, struct arena *arena,
	      struct kept *kept, cJSON **documents, struct error *err);

/*
 * Adds a document, and removes what is older than the last @most. Of that the newest of each of the last @days days stays
 * (0: none), so that what changes slowly can be seen.
 */
int kept_add(const struct kept *kept, const cJSON *document, long most, long days,
	     struct arena *arena, struct error *err);

/* Sorts the numbers. 0 when there are none. */
double kept_median(double *numbers, size_t count);

#endif
