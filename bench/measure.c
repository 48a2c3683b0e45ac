/* SPDX-License-Identifier: MIT */
/*
 * measure.c - `measure ROUNDS STATUS COMMAND...`: runs the command ROUNDS times, one after the
 * other, with its output thrown away, and prints the median and the least wall time in milliseconds
 * and the largest resident set in MiB. Exit status 1 when the command does not end with STATUS, or
 * not within a minute.
 *
 * A program of its own, because a process inherits the resident set of who started it: the peak
 * that wait4 reports is never below that of the starter, and an interpreter is larger than what is
 * measured.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 1000
#define DEADLINE_S 60

extern char **environ;
static volatile pid_t child;

static void on_alarm(int number)
{
	(void)number;
	kill(child, SIGKILL);
}

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* One run: its wall time, and its peak in *peak_kib when that is higher. */
static int run(char **command, int wanted, double *ms, long *peak_kib)
{
	posix_spawn_file_actions_t actions;
	struct rusage usage;
	double begin = now_ms();
	int status = 0, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, command[0], &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc != 0) {
		fprintf(stderr, "measure: cannot start %s\n", command[0]);
		return -1;
	}
	child = pid;
	alarm(DEADLINE_S);
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	alarm(0);
	*ms = now_ms() - begin;
	if (usage.ru_maxrss > *peak_kib)
		*peak_kib = usage.ru_maxrss;
	if (WIFEXITED(status) && WEXITSTATUS(status) == wanted)
		return 0;
	fprintf(stderr, "measure: %s ended with status %d, not %d\n", command[0],
		WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), wanted);
	return -1;
}

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

int main(int argc, char **argv)
{
	static double ms[ROUNDS_MAX];
	long rounds = argc > 3 ? strtol(argv[1], NULL, 10) : 0, peak_kib = 0;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: measure ROUNDS STATUS COMMAND...\n");
		return 2;
	}
	signal(SIGALRM, on_alarm);
	for (long i = 0; i < rounds; i++)
		if (run(argv + 3, (int)strtol(argv[2], NULL, 10), &ms[i], &peak_kib) < 0)
			return 1;
	qsort(ms, (size_t)rounds, sizeof(*ms), compare);
	printf("%.3f %.3f %.1f\n", ms[rounds / 2], ms[0], (double)peak_kib / 1024);
	return 0;
}
