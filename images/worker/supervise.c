/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1 /* sigtimedwait's set, strsignal */
#include "supervise.h"
#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_USEC \
	5000000		  /* longer than a rank takes to learn of a failure and to tell the story */
#define TOLD_USEC 1500000 /* the same once rank 0 has told it */

struct children {
	pid_t *pids;
	int *statuses;	       /* as of waitpid() */
	bool *stopped, killed; /* by a signal; those left, by us */
	int count, left;
	int root;	   /* index of rank 0, or -1 */
	int64_t kill_usec; /* when those left are killed; 0: not yet */
	int interrupted;   /* the signal that was passed on to them; 0: none */
};

static void supervise_start(struct options *options, int index, int (*run)(struct options *options),
			    const sigset_t *mask)
{
	struct options own = *options;
	int status;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	secret_forget(&options->secret); /* `own` has it */
	own.rank = options->rank + index;
	own.procs = 0;
	if (own.rank != 0 && own.root_listener >= 0)
		close(own.root_listener);
	status = run(&own);
	fflush(NULL);
	_exit(status);
}

static void signal_all(const struct children *children, int number)
{
	for (int i = 0; i < children->count; i++)
		if (children->pids[i] > 0)
			kill(children->pids[i], number);
}

/* Nobody goes on before all have the signal, and blames one that ended first. */
static void interrupt_all(const struct children *children, int number)
{
	signal_all(children, SIGSTOP);
	signal_all(children, number);
	signal_all(children, SIGCONT);
}

/* Those left will be killed in @usec, if not sooner; 0: no reason to. */
static void limit(struct children *children, int64_t usec)
{
	int64_t kill_usec = clock_usec() + usec;

	if (usec > 0 && (children->kill_usec == 0 || kill_usec < children->kill_usec))
		children->kill_usec = kill_usec;
}

/*
 * How long the others have when a rank has ended with this status; 0: as long as they want. A rank 0 that failed has
 * told the story. One that was killed has told nothing, and after one that passed the others still give their
 * devices back.
 */
static int64_t patience(int status, bool is_root)
{
	if (is_root && WIFEXITED(status) && WEXITSTATUS(status) != 0)
		return TOLD_USEC;
	return is_root || status != 0 ? GRACE_USEC : 0;
}

static void supervise_reap(struct children *children)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
		for (int i = 0; i < children->count; i++) {
			if (children->pids[i] != pid)
				continue;
			children->stopped[i] = WIFSTOPPED(status);
			if (WIFSTOPPED(status) || WIFCONTINUED(status))
				continue;
			children->pids[i] = 0;
			children->statuses[i] = status;
			children->left--;
			limit(children, patience(status, i == children->root));
		}
	}
}

/* Whether nobody that is left can end by himself. */
static bool all_stopped(const struct children *children)
{
	for (int i = 0; i < children->count; i++)
		if (children->pids[i] > 0 && !children->stopped[i])
			return false;
	return true;
}

static void kill_all(struct children *children)
{
	children->killed = true;
	signal_all(children, SIGKILL);
}

static void wait_all(struct children *children, const sigset_t *signals)
{
	const struct timespec tick = {.tv_nsec = 200000000};

	for (supervise_reap(children); children->left > 0; supervise_reap(children)) {
		int number = sigtimedwait(signals, NULL, &tick);

		if (number == SIGINT || number == SIGTERM) {
			children->interrupted = number;
			interrupt_all(children, number);
			limit(children, GRACE_USEC);
		}
		if (children->kill_usec > 0 &&
		    (clock_usec() > children->kill_usec || all_stopped(children)))
			kill_all(children);
	}
}

/* What those who ended by themselves say of the run: 0, or the first one's other status. */
static int said_by_others(const struct children *children)
{
	for (int i = 0; i < children->count; i++)
		if (WIFEXITED(children->statuses[i]) && WEXITSTATUS(children->statuses[i]) != 0)
			return WEXITSTATUS(children->statuses[i]);
	return 0;
}

static int status_of(const struct options *options, const struct children *children,
		     struct failure *err)
{
	int chosen = 0, rank, said = said_by_others(children);
	const char *host = options->host;

	while (options->rank > 0 && chosen < children->count - 1 && children->statuses[chosen] == 0)
		chosen++;
	if (WIFEXITED(children->statuses[chosen]))
		return WEXITSTATUS(children->statuses[chosen]);
	rank = options->rank + chosen;
	err->phase = PHASE_RUN;
	if (children->killed && said != 0)
		failure_set(err, (enum status)said, rank, host,
			    "rank %d (%s) hung and was killed when the others had given up", rank,
			    host);
	else
		failure_set(err, STATUS_LOST, rank, host, "rank %d (%s) was killed: %s", rank, host,
			    strsignal(WTERMSIG(children->statuses[chosen])));
	return err->status;
}

/* Ends as the signal ends a program, so that whoever sent it knows; no rank is to blame. */
static void end_by(int number)
{
	sigset_t set;

	fflush(NULL);
	fprintf(stderr, "allreduce: interrupted: %s\n", strsignal(number));
	signal(number, SIG_DFL);
	sigemptyset(&set);
	sigaddset(&set, number);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
	raise(number);
}

int supervise(struct options *options, int (*run)(struct options *options), struct failure *err)
{
	struct children children = {.count = options->procs, .root = options->rank == 0 ? 0 : -1};
	int status;
	sigset_t signals, before;

	children.pids = calloc((size_t)options->procs, sizeof(*children.pids));
	children.statuses = calloc((size_t)options->procs, sizeof(*children.statuses));
	children.stopped = calloc((size_t)options->procs, sizeof(*children.stopped));
	if (!children.pids || !children.statuses || !children.stopped)
		abort();
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, &before);
	fflush(NULL);
	for (int i = 0; i < options->procs; i++) {
		children.pids[i] = fork();
		if (children.pids[i] == 0)
			supervise_start(options, i, run, &before);
		if (children.pids[i] > 0) {
			children.left++;
			continue;
		}
		failure_set(err, STATUS_USAGE, options->rank + i, options->host, "fork: %s",
			    strerror(errno));
		signal_all(&children, SIGKILL);
		break;
	}
	secret_forget(&options->secret); /* each rank has its own */
	secret_unguard();
	if (options->root_listener >= 0)
		close(options->root_listener);
	wait_all(&children, &signals);
	if (children.interrupted)
		end_by(children.interrupted);
	status = err->status != STATUS_PASS ? err->status : status_of(options, &children, err);
	free(children.pids);
	free(children.statuses);
	free(children.stopped);
	return status;
}
