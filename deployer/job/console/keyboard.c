/* SPDX-License-Identifier: MIT */
#include "deployer/job/console/keyboard.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define ROWS_DEFAULT 24
#define COLUMNS_DEFAULT 80

static struct termios keyboard_before;
static atomic_bool keyboard_raw;
static atomic_int keyboard_wake = -1;

bool keyboard_is_there(void)
{
	return isatty(STDIN_FILENO);
}

bool keyboard_is_ours(void)
{
	return !keyboard_is_there() || tcgetpgrp(STDIN_FILENO) == getpgrp();
}

bool keyboard_is_raw(void)
{
	return atomic_load(&keyboard_raw);
}

/* A process in the background that sets the modes is stopped by SIGTTOU unless it blocks it. */
static void keyboard_set(const struct termios *modes)
{
	sigset_t stop, before;

	sigemptyset(&stop);
	sigaddset(&stop, SIGTTOU);
	pthread_sigmask(SIG_BLOCK, &stop, &before);
	tcsetattr(STDIN_FILENO, TCSADRAIN, modes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void keyboard_restore(void)
{
	int kept = errno;

	if (atomic_exchange(&keyboard_raw, false))
		keyboard_set(&keyboard_before);
	errno = kept;
}

static void keyboard_on_end(int number)
{
	keyboard_restore();
	signal(number, SIG_DFL);
	raise(number);
}

void keyboard_set_raw(void)
{
	static const int numbers[] = {SIGQUIT, SIGABRT};
	static bool is_watched;
	struct termios raw;

	if (keyboard_is_raw() || tcgetattr(STDIN_FILENO, &keyboard_before) < 0)
		return;
	if (!is_watched) {
		is_watched = true;
		atexit(keyboard_restore);
		for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
			signal(numbers[i], keyboard_on_end);
	}
	raw = keyboard_before;
	raw.c_iflag |= IGNPAR;
	raw.c_iflag &= ~(tcflag_t)(ISTRIP | INLCR | IGNCR | ICRNL | IXON | IXANY | IXOFF);
	raw.c_lflag &= ~(tcflag_t)(ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHONL | IEXTEN);
	raw.c_oflag &= ~(tcflag_t)OPOST;
	raw.c_cc[VMIN] = 1;
	raw.c_cc[VTIME] = 0;
	atomic_store(&keyboard_raw, true);
	keyboard_set(&raw);
}

void keyboard_size(unsigned short *rows, unsigned short *columns)
{
	struct winsize size = {0};

	ioctl(STDIN_FILENO, TIOCGWINSZ, &size);
	*rows = size.ws_row ? size.ws_row : ROWS_DEFAULT;
	*columns = size.ws_col ? size.ws_col : COLUMNS_DEFAULT;
}

static void keyboard_on_size(int number)
{
	static const uint64_t one = 1;
	int kept = errno, wake = atomic_load(&keyboard_wake);

	(void)number;
	if (wake >= 0 && write(wake, &one, sizeof(one)) < 0)
		errno = 0; /* it is full, and wakes anyway */
	errno = kept;
}

void keyboard_watch_size(int wake)
{
	struct sigaction action = {.sa_handler = keyboard_on_size, .sa_flags = SA_RESTART};

	atomic_store(&keyboard_wake, wake);
	if (wake >= 0)
		sigaction(SIGWINCH, &action, NULL);
}

size_t keyboard_filter(struct keyboard_keys *keys, const char *typed, size_t length, char *out,
		       bool *ends)
{
	size_t count = 0;

	for (size_t i = 0; i < length; i++) {
		char key = typed[i];

		if (keys->has_tilde) {
			keys->has_tilde = false;
			if (key == '.') {
				*ends = true;
				return count;
			}
			if (key != '~')
				out[count++] = '~';
		} else if (keys->is_line_start && key == '~') {
			keys->has_tilde = true;
			continue;
		}
		out[count++] = key;
		keys->is_line_start = key == '\r' || key == '\n';
	}
	return count;
}
