/* SPDX-License-Identifier: MIT */
#include "deployer/job/console/terminal.h"

#include "core/arena.h"
#include "core/clock.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define QUEUE_BYTES_FULL (1 * MIB)

void job_terminal_init(struct job_terminal *t)
{
	*t = (struct job_terminal){0};
	str_init(&t->queue);
}

static bool terminal_is_ready(int fd, int msec)
{
	struct pollfd ready = {.fd = fd, .events = POLLOUT};

	return poll(&ready, 1, msec) > 0;
}

/*
 * Writes a piece of the first part. When poll says that a pipe is ready, PIPE_BUF bytes do not block
 * (pipe(7)).
 */
static bool terminal_write(struct job_terminal *t)
{
	struct job_terminal_part *part = &t->parts[t->part_first];
	size_t length = part->bytes < PIPE_BUF ? part->bytes : PIPE_BUF;
	ssize_t done = write(part->fd, t->queue.text + t->written, length);

	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (done < 0) { /* it is lost, as for every program */
		if (part->fd == STDOUT_FILENO)
			t->error = errno;
		done = (ssize_t)part->bytes;
	}
	part->bytes -= (size_t)done;
	t->written += (size_t)done;
	t->part_first += part->bytes == 0;
	return true;
}

static void terminal_flush(struct job_terminal *t, int msec)
{
	while (t->part_first < t->part_count &&
	       terminal_is_ready(t->parts[t->part_first].fd, msec) && terminal_write(t))
		;
	if (t->part_first == t->part_count) {
		str_clear(&t->queue);
		t->written = t->part_first = t->part_count = 0;
	} else if (t->written > QUEUE_BYTES_FULL / 2) {
		str_drop(&t->queue, t->written);
		t->written = 0;
	}
	atomic_store(&t->is_full, t->queue.length - t->written > QUEUE_BYTES_FULL);
}

void job_terminal_flush(struct job_terminal *t)
{
	terminal_flush(t, 0);
}

static struct job_terminal_part *terminal_part(struct job_terminal *t, int fd)
{
	if (t->part_count > t->part_first && t->parts[t->part_count - 1].fd == fd)
		return &t->parts[t->part_count - 1];
	if (t->part_count == t->part_room) {
		t->part_room = t->part_room * 2 + 16;
		t->parts = xrealloc(t->parts, t->part_room * sizeof(*t->parts));
	}
	t->parts[t->part_count] = (struct job_terminal_part){.fd = fd};
	return &t->parts[t->part_count++];
}

void job_terminal_add(struct job_terminal *t, int fd, const char *text, size_t length)
{
	if (fd == STDOUT_FILENO && t->error)
		return;
	str_add_bytes(&t->queue, text, length);
	terminal_part(t, fd)->bytes += length;
	if (t->queue.length - t->written >= PIPE_BUF)
		terminal_flush(t, 0);
}

bool job_terminal_is_full(const struct job_terminal *t)
{
	return atomic_load(&t->is_full);
}

void job_terminal_release(struct job_terminal *t)
{
	while (t->part_first < t->part_count && !interrupted())
		terminal_flush(t, INTERRUPT_POLL_MSEC);
	str_release(&t->queue);
	free(t->parts);
	t->parts = NULL;
}
