/* SPDX-License-Identifier: MIT */
/*
 * progress.h - shows what a long-running command does.
 *
 * A step is one line with a name ("node01", "layer 1f3a...") and a state. On a terminal running
 * steps are redrawn in place at the foot of the screen; elsewhere each change of state is printed
 * once as a plain line, and byte counts only at the end. Safe from any thread.
 */
#ifndef CORE_PROGRESS_H
#define CORE_PROGRESS_H

#include "core/base.h"

#define PROGRESS_STEPS_MAX 4096

struct progress_step; /* owned by the module, freed by progress_end */

/* Starts a step; `state` says what it does now. Never NULL. */
struct progress_step *progress_begin(const char *name, const char *state);
/*
 * The same for a blob of `size` bytes of which `there` were there before: its bytes count in the
 * total (progress_total.h).
 */
struct progress_step *progress_blob(const char *digest, uint64_t size, uint64_t there,
				    const char *state);
/*
 * Reports that a request is sent again after a pause: counts it and prints an event. The step's
 * state tells people.
 */
void progress_retry(const char *what, int try, int tries_max, double pause_s, const char *why);
/* Gives the step another state. */
void progress_state(struct progress_step *step, const char *format, ...) _printf_(2, 3);
/* Shows short-lived text, such as a line of a program's output. On a terminal only. */
void progress_note(struct progress_step *step, const char *text);
/*
 * Says how far the step is, in bytes; `total` is 0 when not known. Cheap: redraws at most 10 times
 * a second.
 */
void progress_bytes(struct progress_step *step, uint64_t done, uint64_t total);
/* Ends it with a last state ("pushed in 1.2 s"); ok false shows it as failed. */
void progress_end(struct progress_step *step, bool ok, const char *format, ...) _printf_(3, 4);

/* For log.c: pause takes the lock and wipes the live lines; resume draws them again and unlocks. */
void progress_pause(void);
void progress_resume(void);

#endif
