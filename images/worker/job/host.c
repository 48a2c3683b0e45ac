/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/protocol.h"
#include "job/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define OUT_BYTES_FULL (256 * 1024) /* of words that ringup has not taken: the ranks wait */
#define STEP_MSEC 100
#define SWEEP_USEC 100000
#define KILL_USEC 3000000 /* what still lives so long after SIGKILL hangs in the kernel */

static volatile sig_atomic_t told_to_stop;

int64_t job_clock_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void host_on_signal(int number)
{
	told_to_stop |= number != SIGCHLD;
}

static void host_catch_signals(void)
{
	static const int numbers[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
	struct sigaction action = {.sa_handler = host_on_signal};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		sigaction(numbers[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void host_stop(struct host *host)
{
	if (host->state != HOST_RUNS)
		return;
	host->state = HOST_TERMINATES;
	host->stop_usec = job_clock_usec();
	host->swept_usec = 0;
	host_sweep(host, SIGTERM);
}

static void host_add_word(struct host *host, const char *keyword, const char *value)
{
	struct process *last = host->count ? &host->processes[host->count - 1] : NULL;

	if (!last || last->began)
		host_trouble(host, "'%s' without a task", keyword);
	else
		list_add(strcmp(keyword, "env") == 0 ? &last->env : &last->words, value);
}

static void host_obey(struct host *host, char *line)
{
	char *value = strchr(line, ' ');
	size_t spawned;
	size_t length;
	long number;

	if (value)
		*value++ = '\0';
	else
		value = line + strlen(line);
	length = text_unescape(value);
	if (input_obey(host, line, value, length))
		return;
	if (strcmp(line, "set") == 0) {
		list_add(&host->variables, value);
	} else if (strcmp(line, "default") == 0) {
		list_add(&host->defaults, value);
	} else if (strcmp(line, "dir") == 0) {
		free(host->folder);
		host->folder = text_copy(value);
	} else if (strcmp(line, "task") == 0) {
		host_add_process(host, value);
	} else if (strcmp(line, "env") == 0 || strcmp(line, "word") == 0) {
		host_add_word(host, line, value);
	} else if (strcmp(line, "start") == 0) {
		host_start_tasks(host);
	} else if (strcmp(line, "go") == 0) {
		gate_go(host);
	} else if (sscanf(value, "%zu %ld", &spawned, &number) == 2 &&
		   strcmp(line, "spawned") == 0) {
		gate_spawned(host, spawned, (int)number & 255);
	} else if (strcmp(line, "signal") == 0 && text_number(value, 1, 64, &number)) {
		host_signal_ranks(host, (int)number);
	} else if (strcmp(line, "stacks") == 0) {
		host_say_stacks(host);
	} else if (strcmp(line, "cpu") == 0) {
		host_say_cpu(host);
	} else if (strcmp(line, "stop") == 0) {
		if (text_number(value, 0, 3600, &number))
			host->options.grace_seconds = number;
		host_stop(host);
	} else if (strcmp(line, "beat") != 0) {
		host_trouble(host, "'%s' is no word of protocol %d", line, PROTOCOL_VERSION);
	}
}

static void host_listen(struct host *host)
{
	char bytes[64 * 1024], *line;
	ssize_t got = read(STDIN_FILENO, bytes, sizeof(bytes));
	size_t offset = 0;

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (got <= 0) {
		host->input_ended = true;
		host_stop(host);
		return;
	}
	host->heard_usec = job_clock_usec();
	text_add_bytes(&host->in, bytes, (size_t)got);
	while ((line = text_next_line(&host->in, &offset)))
		host_obey(host, line);
	text_drop(&host->in, offset);
	if (host->in.length > PROTOCOL_LINE_BYTES_MAX)
		host_stop(host);
}

static void host_talk(struct host *host)
{
	ssize_t done;

	if (!host->out.length)
		return;
	done = write(STDOUT_FILENO, host->out.bytes, host->out.length);
	if (done > 0)
		text_drop(&host->out, (size_t)done);
	else if (done < 0 && errno != EAGAIN && errno != EINTR) {
		host->out.length = 0; /* nobody reads */
		host->input_ended = true;
		host_stop(host);
	}
}

/* The descriptors of one round, and whose they are: process NULL for the supervisor's own. */
struct watch {
	struct pollfd *fds;
	size_t *owners; /* index of the process */
	size_t count, room;
};
enum { WATCH_TALK, WATCH_OUT, WATCH_GATE, WATCH_INPUT, WATCH_OWN };

static void watch_add(struct watch *watch, int fd, short events, size_t owner)
{
	if (watch->count == watch->room) {
		watch->room = watch->room * 2 + 16;
		watch->fds = realloc(watch->fds, watch->room * sizeof(*watch->fds));
		watch->owners = realloc(watch->owners, watch->room * sizeof(*watch->owners));
		if (!watch->fds || !watch->owners)
			abort();
	}
	watch->owners[watch->count] = owner;
	watch->fds[watch->count++] = (struct pollfd){.fd = fd, .events = events};
}

/* A rank that closes its stdin is noticed without a write; a terminal may be closed and opened again. */
static void host_watch(const struct host *host, struct watch *watch)
{
	bool full = host->out.length > OUT_BYTES_FULL;

	watch->count = 0;
	watch_add(watch, host->input_ended ? -1 : STDIN_FILENO, POLLIN, 0);
	watch_add(watch, host->out.length ? STDOUT_FILENO : -1, POLLOUT, 0);
	watch_add(watch, host->state == HOST_RUNS ? host->listener : -1, POLLIN, 0);
	watch_add(watch,
		  host->input.is_terminal && !host->input.waiting.length ? -1 : host->input.fd,
		  host->input.waiting.length ? POLLOUT : 0, 0);
	for (size_t i = 0; i < host->count; i++) {
		const struct process *process = &host->processes[i];

		if (process->connection >= 0)
			watch_add(watch, process->connection, POLLIN, i);
		for (int k = 0; k < 2 && !full; k++)
			if (process->sources[k].fd >= 0)
				watch_add(watch, process->sources[k].fd, POLLIN, i);
	}
}

static void host_serve(struct host *host, const struct watch *watch)
{
	for (size_t i = WATCH_OWN; i < watch->count; i++) {
		struct process *process = &host->processes[watch->owners[i]];
		int fd = watch->fds[i].fd;

		if (!watch->fds[i].revents)
			continue;
		if (fd == process->connection)
			gate_read(host, process);
		for (int k = 0; k < 2; k++)
			if (fd == process->sources[k].fd)
				source_read(host, process, &process->sources[k]);
	}
	if (watch->fds[WATCH_INPUT].revents & POLLERR)
		input_close(host);
	else if (watch->fds[WATCH_INPUT].revents)
		input_write(host);
	if (watch->fds[WATCH_GATE].revents)
		gate_accept(host); /* last: it moves the processes */
}

/* Goes on with the end of the job; false when nothing is left to do. */
static bool host_end(struct host *host, int64_t now)
{
	int64_t grace = host->options.grace_seconds * 1000000;
	size_t left;

	if (host->state == HOST_RUNS || now - host->swept_usec < SWEEP_USEC)
		return true;
	if (host->state == HOST_TERMINATES && now - host->stop_usec >= grace)
		host->state = HOST_KILLS;
	host->swept_usec = now;
	left = host_sweep(host, host->state == HOST_KILLS ? SIGKILL : 0);
	host_reap(host);
	if (left && now - host->stop_usec < grace + KILL_USEC)
		return true;
	if (left)
		text_addf(&host->out, "left %zu\n", left);
	return false;
}

static void host_watch_the_clock(struct host *host)
{
	int64_t now = job_clock_usec();

	if (host->state == HOST_RUNS &&
	    now - host->heard_usec > host->options.lost_seconds * 1000000) {
		if (!host->options.grace_said)
			host->options.grace_seconds = PROTOCOL_LOST_GRACE_SECONDS;
		host_stop(host);
	}
	if (told_to_stop)
		host_stop(host);
	if (now - host->beat_usec >= PROTOCOL_BEAT_SECONDS * 1000000) {
		host->beat_usec = now;
		if (host->out.length < OUT_BYTES_FULL)
			text_addf(&host->out, "beat\n");
	}
	if (host->stacks_usec && now >= host->stacks_usec)
		host_end_stacks(host);
	if (host->state == HOST_RUNS)
		host_look_at_mpi(host, now);
	host_flush_sources(host, false);
}

static void host_loop(struct host *host)
{
	struct watch watch = {0};

	do {
		host_watch(host, &watch);
		if (poll(watch.fds, watch.count, STEP_MSEC) > 0) {
			if (watch.fds[WATCH_TALK].revents)
				host_listen(host);
			host_serve(host, &watch);
		}
		host_reap(host);
		host_watch_the_clock(host);
		host_talk(host);
	} while (host_end(host, job_clock_usec()));
	free(watch.fds);
	free(watch.owners);
}

/* The last words: what the ranks still said, and the end. */
static void host_finish(struct host *host)
{
	int64_t deadline = job_clock_usec() + KILL_USEC;

	for (size_t i = 0; i < host->count; i++)
		if (host->processes[i].label[0] != '?')
			process_end(host, &host->processes[i], 128 + SIGKILL);
	host_flush_sources(host, true);
	gate_close(host);
	text_addf(&host->out, "done\n");
	while (host->out.length && job_clock_usec() < deadline) {
		struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};

		poll(&ready, 1, STEP_MSEC);
		host_talk(host);
	}
}

static void host_release(struct host *host)
{
	for (size_t i = 0; i < host->count; i++) {
		struct process *process = &host->processes[i];

		list_release(&process->words);
		list_release(&process->env);
		text_release(&process->heard);
		for (int k = 0; k < 2; k++)
			text_release(&process->sources[k].line);
	}
	free(host->processes);
	free(host->launchers);
	free(host->folder);
	list_release(&host->variables);
	list_release(&host->defaults);
	text_release(&host->in);
	text_release(&host->out);
	text_release(&host->input.waiting);
}

int host_run(const struct options *options)
{
	struct host host = {.options = *options, .listener = -1, .input = {.fd = -1}};

	host.heard_usec = job_clock_usec();
	setenv(JOB_VARIABLE, options->id, 1);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	host_catch_signals();
	fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_NONBLOCK);
	fcntl(STDOUT_FILENO, F_SETFL, fcntl(STDOUT_FILENO, F_GETFL) | O_NONBLOCK);
	text_addf(&host.out, "hello %d\n", PROTOCOL_VERSION);
	if (gate_open(&host) == 0) {
		host_say_facts(&host);
		text_addf(&host.out, "ready\n");
		host_loop(&host);
	}
	host_finish(&host);
	host_release(&host);
	return 0;
}
