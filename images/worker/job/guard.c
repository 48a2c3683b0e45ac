/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/guard.h"
#include "job/host.h"
#include "job/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GUARD_STEP_MSEC 100
#define GUARD_EXIT_ENDED 143 /* as if SIGTERM had ended it */

static volatile sig_atomic_t guard_told;

static void guard_on_signal(int number)
{
	guard_told |= number != SIGCHLD;
}

/* In the child. */
static void guard_become(const sigset_t *mask, char *const *words)
{
	int null = open("/dev/null", O_RDONLY);

	dup2(null, STDIN_FILENO);
	close(null);
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(words[0], words);
	fprintf(stderr, "ringup: cannot run %s: %s\n", words[0], strerror(errno));
	_exit(errno == ENOENT ? 127 : 126);
}

/* Signals come only while the guard waits, so that none is missed. */
static void guard_catch_signals(sigset_t *before)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
	struct sigaction action = {.sa_handler = guard_on_signal};
	sigset_t all;

	sigemptyset(&all);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		sigaddset(&all, numbers[i]);
		sigaction(numbers[i], &action, NULL);
	}
	sigprocmask(SIG_BLOCK, &all, before);
}

/* Whether stdin has ended, or a signal says so; waits a moment for either, or for a child's end. */
static bool guard_is_over(const sigset_t *mask)
{
	const struct timespec step = {0, GUARD_STEP_MSEC * 1000000L};
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
	char bytes[4096];

	if (ppoll(&input, 1, &step, mask) > 0 && read(STDIN_FILENO, bytes, sizeof(bytes)) <= 0)
		return true;
	return guard_told;
}

/* Ends all descendants. */
static void guard_end(long grace_seconds)
{
	struct host host = {.options = {.id = "-"}};
	int64_t begin = job_clock_usec(), grace = grace_seconds * 1000000;
	size_t left = host_sweep(&host, SIGTERM);

	while (left && job_clock_usec() - begin < grace + 3000000) {
		poll(NULL, 0, GUARD_STEP_MSEC);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		left = host_sweep(&host, job_clock_usec() - begin < grace ? 0 : SIGKILL);
	}
}

int guard_run(long grace_seconds, char *const *words)
{
	sigset_t before;
	pid_t child, ended;
	int status;

	prctl(PR_SET_CHILD_SUBREAPER, 1);
	guard_catch_signals(&before);
	child = fork();
	if (child < 0) {
		fprintf(stderr, "ringup: cannot start %s: %s\n", words[0], strerror(errno));
		return 125;
	}
	if (child == 0)
		guard_become(&before, words);
	for (;;) {
		while ((ended = waitpid(-1, &status, WNOHANG)) > 0)
			if (ended == child)
				return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
							   : WEXITSTATUS(status);
		if (!guard_is_over(&before))
			continue;
		guard_end(grace_seconds);
		return GUARD_EXIT_ENDED;
	}
}
