/* SPDX-License-Identifier: MIT */
/* clock.h - time that only goes forward, deadlines, and the person's Ctrl-C. */
#ifndef CORE_CLOCK_H
#define CORE_CLOCK_H

#include "core/error.h"

#include <stdint.h>

/* Monotonic time in microseconds. */
uint64_t clock_usec(void);
/* Seconds since an earlier clock_usec(). */
double clock_seconds_since(uint64_t start_usec);
/* Milliseconds left until the deadline for poll(): 0 when past. */
int clock_left_msec(uint64_t deadline_usec);

/* Seconds since 1970 as "2026-11-21T09:00:00Z". */
void clock_iso8601(char text[static 24]);

/*
 * SIGINT and SIGTERM set a flag. Everything that waits checks it at least five times a second and
 * gives up with ERROR_INTERRUPTED. A second signal ends the process at once.
 */
void interrupt_setup(void);
/*
 * For a child whose parent passes signals on. A signal then comes twice, and the second one does
 * not end the process.
 */
void interrupt_follow(void);
/*
 * For a command that has to write down how it ended. From now on a second signal sets
 * interrupted_twice(), and only a third one ends the process; `last`, which may be NULL, is called
 * just before that and has to be async-signal-safe. Signals within 0.3 s of the first one count as one
 * with it: timeout(1) and a terminal's shell may send each of them to the process and to its group.
 */
void interrupt_keep(void (*last)(void));
bool interrupted_twice(void);
/* The person was asked what the signal was to mean: it counts no longer, and waits go on. */
void interrupt_forget(void);
bool interrupted(void);
/* Which signal it was: SIGINT, SIGTERM or SIGHUP. */
int interrupt_signal(void);
/* The status of a command that ends because of it: 130, and 143 or 129 when it was SIGTERM or SIGHUP, as a shell has it. */
int interrupt_status(void);

/*
 * For a command whose SIGUSR1 and SIGUSR2 are meant for the programs that it runs: they end this process no longer.
 * signal_passed() returns one that came since, each once, or 0.
 */
void signals_pass(void);
int signal_passed(void);

/* Returns -1 with ERROR_INTERRUPTED when the flag is set, else 0. */
int interrupt_check(struct error *err);

/* How long a wait may last before it checks the flag again. */
#define INTERRUPT_POLL_MSEC 200

#endif
