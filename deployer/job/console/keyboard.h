/* SPDX-License-Identifier: MIT */
/*
 * keyboard.h - this process's terminal as the input of a rank (`ringup run --tty`): raw mode, which is
 * undone on every way out, the size, and the keys that end the job.
 */
#ifndef DEPLOYER_JOB_CONSOLE_KEYBOARD_H
#define DEPLOYER_JOB_CONSOLE_KEYBOARD_H

#include <stdbool.h>
#include <stddef.h>

/* Whether stdin is a terminal. */
bool keyboard_is_there(void);

/*
 * Whether a read from stdin would not stop this process: it is no terminal, or the terminal's foreground
 * is ours (POSIX, "Terminal Access Control"). It changes with the shell's bg and fg.
 */
bool keyboard_is_ours(void);

/*
 * Every key is a byte from now on, and what is printed goes to the screen as it is (the modes of
 * ssh(1)'s client). keyboard_restore undoes it, and so do exit(3), SIGHUP, SIGQUIT and abort(3). After
 * kill -9 nothing does.
 */
void keyboard_set_raw(void);

/* Undoes it; fine when there is nothing to undo. Async-signal-safe. */
void keyboard_restore(void);

bool keyboard_is_raw(void);

/* The terminal's rows and columns; 24 and 80 where it does not know. */
void keyboard_size(unsigned short *rows, unsigned short *columns);

/* From now on `wake` (an eventfd) is written to when the size changes; -1: no longer. */
void keyboard_watch_size(int wake);

/*
 * What was typed so far of an escape. As in ssh(1), "~" is special only as the first key of a line:
 * "~." ends the job and "~~" is one "~". Start with KEYBOARD_KEYS_INIT.
 */
struct keyboard_keys {
	bool is_line_start, has_tilde;
};
#define KEYBOARD_KEYS_INIT  \
	{                   \
		true, false \
	}

/*
 * Takes the escapes out of what was typed. `out` has room for length + 1 bytes; returns how many it got.
 * *ends becomes true at "~.", and what was typed after it is lost.
 */
size_t keyboard_filter(struct keyboard_keys *keys, const char *typed, size_t length, char *out,
		       bool *ends);

#endif
