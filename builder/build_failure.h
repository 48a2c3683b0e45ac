/* SPDX-License-Identifier: MIT */
/*
 * build_failure.h - explains in a sentence why a build's step failed. recipes/build-failures.csv
 * has the known outputs.
 */
#ifndef BUILDER_BUILD_FAILURE_H
#define BUILDER_BUILD_FAILURE_H

#include "core/arena.h"
#include "core/error.h"

struct build_failure {
	const char *text;	     /* what was found in the output */
	const char *reason, *advice; /* "" when nothing is known */
	bool again;		     /* the same build may succeed the next time */
};

/* Texts live in the arena. A table that cannot be read counts as empty. */
struct build_failure build_failure_find(const char *output, struct arena *arena);

/*
 * Sets ERROR_FAILED: "WHAT: reason: LINE; advice" when the output is known, else "WHAT: LAST
 * LINES".
 */
int build_failure_set(const char *what, const char *output, struct error *err);

#endif
