/* SPDX-License-Identifier: MIT */
/*
 * progress_total.h - sums up all bytes of a command: how far, how fast, and how much was saved.
 *
 * Libraries count with progress_add at any time; only a command that has called
 * progress_total_begin shows it: on a terminal as the last of the live lines, elsewhere as one line
 * at the end, as events (progress_event.h) once a second. Safe from any thread.
 */
#ifndef CORE_PROGRESS_TOTAL_H
#define CORE_PROGRESS_TOTAL_H

#include "core/str.h"

enum progress_count {
	PROGRESS_TODO,	  /* bytes to move */
	PROGRESS_DONE,	  /* bytes moved so far; counted by progress_bytes */
	PROGRESS_MOUNTED, /* bytes that the registry took over from another repository */
	PROGRESS_THERE,	  /* bytes that were there already */
	PROGRESS_CACHED,  /* bytes that a cache had, so that they were not made again */
	PROGRESS_RESUMED, /* bytes that an earlier run had moved */
	PROGRESS_RETRIES, /* requests that were sent again */
	PROGRESS_COUNTS
};

struct progress_total {
	uint64_t counts[PROGRESS_COUNTS];
	double seconds;	     /* since it began */
	double bytes_per_s;  /* since the first byte moved; 0: nothing moved */
	double seconds_left; /* at that rate; -1: not known */
};

/* Counts; a negative amount takes back. */
void progress_add(enum progress_count what, int64_t amount);

/* Sets all counts to 0 and shows them from now on. */
void progress_total_begin(void);

/* Shows them once more, as they are at the end. */
void progress_total_end(struct progress_total *total);

/* The name of a count in JSON: "bytes_total", "bytes_done", "retries", ... */
const char *progress_count_name(enum progress_count what);

/* For progress.c and progress_event.c: */

/* The counts now. False when no total is shown. */
bool progress_total_now(struct progress_total *total);
/* The counts for the last time. */
bool progress_total_stop(struct progress_total *total);
/* Writes the total as a line for people, either during the work or at the end. */
void progress_total_text(const struct progress_total *total, bool at_end, struct str *line);

#endif
