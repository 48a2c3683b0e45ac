/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static void input_set_size(struct input *input, const char *value)
{
	struct winsize size = {0};

	if (sscanf(value, "%hu %hu", &size.ws_row, &size.ws_col) != 2)
		return;
	input->rows = size.ws_row;
	input->columns = size.ws_col;
	if (input->is_terminal && input->fd >= 0)
		ioctl(input->fd, TIOCSWINSZ, &size);
}

static void input_choose(struct input *input, char *value, bool is_terminal)
{
	char *size = strchr(value, ' ');

	if (size)
		*size++ = '\0';
	snprintf(input->label, sizeof(input->label), "%s", value);
	input->is_terminal = is_terminal;
	if (size)
		input_set_size(input, size);
}

static void input_add(struct host *host, const char *bytes, size_t length)
{
	struct input *input = &host->input;

	if (input->is_closed || input->has_ended)
		return;
	if (input->waiting.length + length > PROTOCOL_INPUT_BYTES_MAX) {
		host_trouble(host, "more of stdin came than %d bytes that were not taken",
			     PROTOCOL_INPUT_BYTES_MAX);
		return;
	}
	text_add_bytes(&input->waiting, bytes, length);
	if (!*input->label)
		input_close(host); /* for no rank of this host */
	else
		input_write(host);
}

bool input_obey(struct host *host, const char *keyword, char *value, size_t length)
{
	struct input *input = &host->input;

	if (strcmp(keyword, "in") == 0) {
		input_add(host, value, length);
	} else if (strcmp(keyword, "eof") == 0) {
		input->has_ended = true;
		input_write(host);
	} else if (strcmp(keyword, "size") == 0) {
		input_set_size(input, value);
	} else if (strcmp(keyword, "input") == 0 || strcmp(keyword, "terminal") == 0) {
		if (!*input->label)
			input_choose(input, value, *keyword == 't');
	} else {
		return false;
	}
	return true;
}

bool input_is_for(const struct host *host, const struct process *process)
{
	const struct input *input = &host->input;

	return *input->label && !input->is_given && strcmp(input->label, process->label) == 0;
}

/* The terminal's own end is read as the rank's output, and a copy of it is written to. */
static int input_open_terminal(struct input *input, struct process *process)
{
	int own = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), theirs = -1;
	struct winsize size = {.ws_row = input->rows, .ws_col = input->columns};
	char name[64];

	if (own >= 0 && grantpt(own) == 0 && unlockpt(own) == 0 &&
	    ptsname_r(own, name, sizeof(name)) == 0)
		theirs = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (theirs < 0) {
		if (own >= 0)
			close(own);
		return -1;
	}
	ioctl(own, TIOCSWINSZ, &size);
	input->fd = fcntl(own, F_DUPFD_CLOEXEC, 3);
	if (process->sources[0].fd >= 0)
		close(process->sources[0].fd);
	source_open(&process->sources[0], own, false);
	process->sources[0].is_terminal = true;
	return theirs;
}

int input_open(struct host *host, struct process *process)
{
	struct input *input = &host->input;
	int ends[2], theirs;

	input->is_given = true;
	if (input->is_terminal) {
		theirs = input_open_terminal(input, process);
		if (theirs < 0)
			host_trouble(host, "cannot make a terminal for rank %s: %s", input->label,
				     strerror(errno));
		return theirs;
	}
	if (pipe2(ends, O_CLOEXEC) < 0) {
		host_trouble(host, "cannot make a pipe for rank %s: %s", input->label,
			     strerror(errno));
		return -1;
	}
	input->fd = ends[1];
	fcntl(input->fd, F_SETFL, O_NONBLOCK);
	input_write(host);
	return ends[0];
}

void input_become(int fd, bool is_terminal)
{
	if (is_terminal) {
		setsid();
		ioctl(fd, TIOCSCTTY, 0);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
	}
	dup2(fd, STDIN_FILENO);
}

void input_close(struct host *host)
{
	struct input *input = &host->input;

	if (input->fd >= 0)
		close(input->fd);
	input->fd = -1;
	text_release(&input->waiting);
	if (!input->is_closed && !input->has_ended)
		text_addf(&host->out, "closed\n");
	input->is_closed = true;
}

void input_write(struct host *host)
{
	struct input *input = &host->input;
	ssize_t done = 0;

	if (input->fd < 0)
		return;
	if (input->waiting.length)
		done = write(input->fd, input->waiting.bytes, input->waiting.length);
	if (done < 0 && errno != EAGAIN && errno != EINTR) {
		input_close(host);
		return;
	}
	if (done > 0) {
		text_drop(&input->waiting, (size_t)done);
		text_addf(&host->out, "took %zd\n", done);
	}
	/* a terminal stays: its end would hang it up, and the rank still prints there */
	if (input->has_ended && !input->waiting.length && !input->is_terminal)
		input_close(host);
}
