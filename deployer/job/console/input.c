/* SPDX-License-Identifier: MIT */
#include "deployer/job/console/input.h"

#include "core/clock.h"
#include "core/file.h"
#include "deployer/job/console/keyboard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define PIECE_BYTES (16 * KIB)
#define NULL_DEVICE makedev(1, 3) /* Linux, Documentation/admin-guide/devices.txt */

struct job_input {
	struct supervisors *supervisors;
	size_t index;
	bool is_terminal;
	pthread_t thread;
	int wake; /* an eventfd: something has changed below */
	/* under the lock */
	size_t on_their_way; /* bytes that were told and not taken */
	bool is_over;
	unsigned short rows, columns;
	/* of the thread */
	struct keyboard_keys keys;
	struct str line;
};

/* Whether stdin can give anything. */
static bool input_is_there(void)
{
	struct stat st;
	int flags = fcntl(STDIN_FILENO, F_GETFL);

	return flags >= 0 && (flags & O_ACCMODE) != O_WRONLY && fstat(STDIN_FILENO, &st) == 0 &&
	       !(S_ISCHR(st.st_mode) && st.st_rdev == NULL_DEVICE);
}

int job_input_choose(const char *text, bool is_terminal, bool is_detached,
		     struct job_options *options, struct error *err)
{
	bool is_none = text ? strcmp(text, "none") == 0 : is_detached;

	options->input_rank = text && !is_none ? job_label_rank(text) : 0;
	if (options->input_rank < 0)
		return error_set(err, ERROR_USAGE,
				 "--stdin %s: the number of a rank is needed, or 'none'", text);
	if (is_detached && (is_terminal || !is_none))
		return error_set(
			err, ERROR_USAGE,
			"%s does not go with --detach: a detached job has no standard input",
			is_terminal ? "--tty" : "--stdin");
	if (is_terminal && is_none)
		return error_set(err, ERROR_USAGE, "--tty does not go with --stdin none");
	if (is_terminal && !keyboard_is_there())
		return error_set(
			err, ERROR_USAGE,
			"--tty: the input device is not a TTY (standard input has to be a terminal)");
	options->input = is_terminal			? JOB_INPUT_TERMINAL
			 : is_none || !input_is_there() ? JOB_INPUT_NONE
							: JOB_INPUT_PIPE;
	return 0;
}

void job_input_announce(const struct job_options *options, struct str *out)
{
	const char *term = getenv("TERM");
	unsigned short rows, columns;

	if (options->input == JOB_INPUT_PIPE)
		str_addf(out, "input %d\n", options->input_rank);
	if (options->input != JOB_INPUT_TERMINAL)
		return;
	keyboard_size(&rows, &columns);
	str_addf(out, "terminal %d %hu %hu\n", options->input_rank, rows, columns);
	if (term && strspn(term, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789+._-") == strlen(term))
		str_addf(out, "default TERM=%s\n", term);
}

void job_input_prepare(struct supervisors *supervisors, size_t index,
		       const struct job_options *options)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	job_input_announce(options, &out);
	supervisor_tell(supervisors, index, out.text);
}

/* Tells bytes of stdin, escaped (protocol.h). */
static void input_say(struct str *out, const char *bytes, size_t length)
{
	static const struct {
		char byte;
		const char *escape;
	} escapes[] = {{'\\', "\\\\"}, {'\n', "\\n"}, {'\0', "\\0"}};

	str_add(out, "in ");
	for (size_t i = 0; i < length; i++) {
		const char *escape = NULL;

		for (size_t k = 0; k < ARRAY_LEN(escapes); k++)
			if (bytes[i] == escapes[k].byte)
				escape = escapes[k].escape;
		if (escape)
			str_add(out, escape);
		else
			str_add_char(out, bytes[i]);
	}
	str_add_char(out, '\n');
}

static void input_tell(struct job_input *in, const char *bytes, size_t length)
{
	str_clear(&in->line);
	if (length)
		input_say(&in->line, bytes, length);
	else
		str_add(&in->line, "eof\n");
	supervisors_lock(in->supervisors);
	if (!in->is_over) {
		in->on_their_way += length;
		supervisor_tell(in->supervisors, in->index, in->line.text);
		in->is_over |= !length;
	}
	supervisors_unlock(in->supervisors);
}

/* A read that lasts, because another process took what poll saw, is ended by job_input_close. */
static ssize_t input_read(char *bytes, size_t room)
{
	ssize_t got;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
	got = read(STDIN_FILENO, bytes, room);
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	return got;
}

static void input_pass(struct job_input *in, size_t room)
{
	char bytes[PIECE_BYTES], keys[PIECE_BYTES + 1];
	ssize_t got = input_read(bytes, room < PIECE_BYTES ? room : PIECE_BYTES);
	bool ends = false;
	size_t count;

	if (got < 0 && (errno == EAGAIN || errno == EINTR || !keyboard_is_ours()))
		return;
	if (got <= 0) {
		input_tell(in, NULL, 0);
		return;
	}
	if (!in->is_terminal) {
		input_tell(in, bytes, (size_t)got);
		return;
	}
	count = keyboard_filter(&in->keys, bytes, (size_t)got, keys, &ends);
	if (count)
		input_tell(in, keys, count);
	if (ends)
		kill(getpid(), SIGINT); /* as Ctrl-C without a terminal of the rank's own */
}

/* Under the lock: how many bytes may be read now; -1: it is over. */
static ssize_t input_room(struct job_input *in)
{
	unsigned short rows, columns;

	if (in->is_over)
		return -1;
	if (!keyboard_is_ours())
		return 0;
	if (in->is_terminal) {
		keyboard_set_raw();
		keyboard_size(&rows, &columns);
		if (rows != in->rows || columns != in->columns) {
			str_clear(&in->line);
			str_addf(&in->line, "size %hu %hu\n", rows, columns);
			supervisor_tell(in->supervisors, in->index, in->line.text);
		}
		in->rows = rows;
		in->columns = columns;
	}
	return (ssize_t)(JOB_INPUT_BYTES_MAX - in->on_their_way);
}

static void *input_run(void *arg)
{
	struct job_input *in = arg;
	sigset_t stop;
	ssize_t room;
	uint64_t told;
	int state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	/* a read from the background is then an error instead of a stopped process (POSIX) */
	sigemptyset(&stop);
	sigaddset(&stop, SIGTTIN);
	pthread_sigmask(SIG_BLOCK, &stop, NULL);
	for (;;) {
		struct pollfd fds[2] = {{.events = POLLIN}, {.fd = in->wake, .events = POLLIN}};

		supervisors_lock(in->supervisors);
		room = input_room(in);
		supervisors_unlock(in->supervisors);
		if (room < 0)
			return NULL;
		fds[0].fd = room ? STDIN_FILENO : -1;
		if (poll(fds, 2, INTERRUPT_POLL_MSEC) <= 0)
			continue;
		if (fds[1].revents && read(in->wake, &told, sizeof(told)) < 0)
			continue;
		if (fds[0].revents)
			input_pass(in, (size_t)room);
	}
}

struct job_input *job_input_begin(struct supervisors *supervisors, size_t index,
				  const struct job_options *options, struct arena *arena)
{
	struct job_input *in;

	if (options->input == JOB_INPUT_NONE)
		return NULL;
	in = ARENA_NEW(arena, struct job_input);
	*in = (struct job_input){.supervisors = supervisors,
				 .index = index,
				 .is_terminal = options->input == JOB_INPUT_TERMINAL,
				 .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
				 .keys = KEYBOARD_KEYS_INIT,
				 .line = STR_INIT};
	if (in->is_terminal)
		keyboard_watch_size(in->wake);
	if (in->is_terminal && keyboard_is_ours())
		keyboard_set_raw();
	if (pthread_create(&in->thread, NULL, input_run, in) != 0)
		oom();
	return in;
}

static void input_wake(const struct job_input *in)
{
	static const uint64_t one = 1;

	if (write(in->wake, &one, sizeof(one)) < 0)
		return; /* it is full, and wakes anyway */
}

void job_input_hear(struct job_input *in, size_t index, const struct job_event *event)
{
	size_t taken = event->number > 0 ? (size_t)event->number : 0;

	if (!in || index != in->index)
		return;
	if (event->kind == JOB_EVENT_CLOSED) {
		job_input_stop(in);
		return;
	}
	in->on_their_way -= taken < in->on_their_way ? taken : in->on_their_way;
	input_wake(in);
}

void job_input_stop(struct job_input *in)
{
	if (!in)
		return;
	in->is_over = true;
	keyboard_restore();
	input_wake(in);
}

void job_input_close(struct job_input *in)
{
	if (!in)
		return;
	pthread_cancel(in->thread);
	pthread_join(in->thread, NULL);
	keyboard_watch_size(-1);
	fd_close(&in->wake);
	str_release(&in->line);
}
