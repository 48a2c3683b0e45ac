/* SPDX-License-Identifier: MIT */
#include "core/clock.h"

#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define SAME_SIGNAL_USEC 300000

static atomic_bool interrupt_flag;
static atomic_int interrupt_number;
static atomic_int passed_numbers[2]; /* of signal_passed */
/* of interrupt_keep */
static atomic_bool interrupt_is_kept, interrupt_flag_twice;
static _Atomic uint64_t interrupt_usec;
static void (*_Atomic interrupt_last)(void);

uint64_t clock_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

double clock_seconds_since(uint64_t start_usec)
{
	return (double)(clock_usec() - start_usec) / 1e6;
}

int clock_left_msec(uint64_t deadline_usec)
{
	uint64_t now = clock_usec();
	uint64_t left = deadline_usec > now ? (deadline_usec - now + 999) / 1000 : 0;

	return left > INT32_MAX ? INT32_MAX : (int)left;
}

void clock_iso8601(char text[static 24])
{
	time_t now = time(NULL);
	struct tm parts;

	gmtime_r(&now, &parts);
	strftime(text, 24, "%Y-%m-%dT%H:%M:%SZ", &parts);
}

/* A signal after the first one, of a process that is kept. */
static void interrupt_again(void)
{
	uint64_t now = clock_usec(), before = atomic_load(&interrupt_usec);
	void (*last)(void) = atomic_load(&interrupt_last);

	if (now - before < SAME_SIGNAL_USEC)
		return;
	if (!atomic_exchange(&interrupt_flag_twice, true)) {
		atomic_store(&interrupt_usec, now);
		return;
	}
	if (last)
		last();
	_exit(interrupt_status());
}

static void on_signal(int number)
{
	int none = 0;

	atomic_compare_exchange_strong(&interrupt_number, &none, number);
	if (!atomic_exchange(&interrupt_flag, true))
		atomic_store(&interrupt_usec, clock_usec());
	else if (atomic_load(&interrupt_is_kept))
		interrupt_again();
	else
		_exit(ERROR_INTERRUPTED);
}

/* A closed terminal interrupts as Ctrl-C does, unless nohup said otherwise. */
static void interrupt_install(const struct sigaction *action)
{
	struct sigaction hangup;

	sigaction(SIGINT, action, NULL);
	sigaction(SIGTERM, action, NULL);
	if (sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, action, NULL);
}

void interrupt_setup(void)
{
	const struct sigaction action = {.sa_handler = on_signal};

	interrupt_install(&action);
	signal(SIGPIPE, SIG_IGN);
}

static void on_signal_again(int number)
{
	(void)number;
	atomic_store(&interrupt_flag, true);
}

void interrupt_follow(void)
{
	const struct sigaction action = {.sa_handler = on_signal_again};

	interrupt_install(&action);
}

void interrupt_keep(void (*last)(void))
{
	atomic_store(&interrupt_last, last);
	atomic_store(&interrupt_is_kept, true);
}

bool interrupted_twice(void)
{
	return atomic_load(&interrupt_flag_twice);
}

void interrupt_forget(void)
{
	atomic_store(&interrupt_number, 0);
	atomic_store(&interrupt_flag_twice, false);
	atomic_store(&interrupt_flag, false);
}

bool interrupted(void)
{
	return atomic_load(&interrupt_flag);
}

int interrupt_signal(void)
{
	int number = atomic_load(&interrupt_number);

	return number ? number : SIGINT;
}

int interrupt_status(void)
{
	return 128 + interrupt_signal();
}

static void on_passed(int number)
{
	atomic_store(&passed_numbers[number == SIGUSR2], number);
}

void signals_pass(void)
{
	const struct sigaction action = {.sa_handler = on_passed};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
}

int signal_passed(void)
{
	int number = atomic_exchange(&passed_numbers[0], 0);

	return number ? number : atomic_exchange(&passed_numbers[1], 0);
}

int interrupt_check(struct error *err)
{
	if (!interrupted())
		return 0;
	return error_set(err, ERROR_INTERRUPTED, "interrupted; run the same command to go on");
}
