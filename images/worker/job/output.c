/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE 1
#include "job/host.h"
#include "job/protocol.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define IDLE_LINE_USEC 1000000 /* a line that does not end is shown after this */

void source_open(struct source *source, int fd, bool is_error)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	*source = (struct source){.fd = fd, .is_error = is_error};
}

static void source_say(struct host *host, const struct process *process,
		       const struct source *source, const char *bytes, size_t length, bool is_whole)
{
	static const char kinds[2][2] = {{'O', 'o'}, {'E', 'e'}};

	/* (a launcher's words about the end of its ranks are output) */
	if (host->stacks_usec && source->is_error && isdigit((unsigned char)process->label[0]))
		text_addf(&host->out, "stack %s ", process->label);
	else
		text_addf(&host->out, "%c %s ", kinds[source->is_error][is_whole], process->label);
	text_add_escaped(&host->out, bytes, length);
	text_add_bytes(&host->out, "\n", 1);
}

/* Says a line, or the rest of one, in pieces that are not too long. */
static void source_say_pieces(struct host *host, const struct process *process,
			      const struct source *source, const char *bytes, size_t length,
			      bool is_whole)
{
	while (length > PROTOCOL_PIECE_BYTES_MAX) {
		source_say(host, process, source, bytes, PROTOCOL_PIECE_BYTES_MAX, false);
		bytes += PROTOCOL_PIECE_BYTES_MAX;
		length -= PROTOCOL_PIECE_BYTES_MAX;
	}
	source_say(host, process, source, bytes, length, is_whole);
}

static void source_flush(struct host *host, struct process *process, struct source *source)
{
	if (!source->line.length)
		return;
	source_say_pieces(host, process, source, source->line.bytes, source->line.length, false);
	source->line.length = 0;
}

static void source_take(struct host *host, struct process *process, struct source *source,
			const char *bytes, size_t length)
{
	const char *end = bytes + length, *newline;

	if (source->is_terminal) {
		source_say_pieces(host, process, source, bytes, length, false);
		return;
	}
	while (bytes < end && (newline = memchr(bytes, '\n', (size_t)(end - bytes)))) {
		if (source->line.length) {
			text_add_bytes(&source->line, bytes, (size_t)(newline - bytes));
			source_say_pieces(host, process, source, source->line.bytes,
					  source->line.length, true);
			source->line.length = 0;
		} else {
			source_say_pieces(host, process, source, bytes, (size_t)(newline - bytes),
					  true);
		}
		bytes = newline + 1;
	}
	if (bytes == end)
		return;
	if (!source->line.length)
		source->since_usec = job_clock_usec();
	text_add_bytes(&source->line, bytes, (size_t)(end - bytes));
	if (source->line.length > PROTOCOL_PIECE_BYTES_MAX)
		source_flush(host, process, source);
}

void source_read(struct host *host, struct process *process, struct source *source)
{
	char bytes[64 * 1024];
	ssize_t got = read(source->fd, bytes, sizeof(bytes));

	if (got > 0) {
		source_take(host, process, source, bytes, (size_t)got);
		return;
	}
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	source_flush(host, process, source);
	close(source->fd);
	source->fd = -1;
	text_release(&source->line);
}

void process_flush(struct host *host, struct process *process)
{
	for (int k = 0; k < 2; k++)
		if (process->sources[k].fd >= 0)
			source_flush(host, process, &process->sources[k]);
}

void host_flush_sources(struct host *host, bool all)
{
	int64_t old = job_clock_usec() - IDLE_LINE_USEC;

	for (size_t i = 0; i < host->count; i++)
		for (int k = 0; k < 2; k++) {
			struct source *source = &host->processes[i].sources[k];

			if (source->fd >= 0 && (all || source->since_usec < old))
				source_flush(host, &host->processes[i], source);
		}
}
