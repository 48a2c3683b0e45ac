/* SPDX-License-Identifier: MIT */
/*
 * progress_event.h - progress for programs: JSON lines on standard error instead of lines for
 * people, one object each. The members are in docs/cli.md, "Events".
 */
#ifndef CORE_PROGRESS_EVENT_H
#define CORE_PROGRESS_EVENT_H

#include "core/progress_total.h"

/* From now on progress.h and log.h print events. To be called before any thread starts. */
void progress_events(void);
bool progress_events_on(void);

/* For progress.c and log.c, which print: each writes one line into `line`, with its newline. */

struct event_step {
	const char *name;   /* of a step that is no blob */
	const char *digest; /* of a blob; NULL: no blob */
	const char *state;
	uint64_t done_bytes, total_bytes;
	double seconds;
};
/* `ended`: NULL while it goes on, else whether it went well. */
void event_step(struct str *line, const struct event_step *step, const bool *ended);
void event_total(struct str *line, const struct progress_total *total, bool at_end);
void event_retry(struct str *line, const char *what, int try, int tries_max, double pause_s,
		 const char *why);
/* "info", "debug", "warning" or "error". */
void event_text(struct str *line, const char *event, const char *text);

#endif
