/* SPDX-License-Identifier: MIT */
#include "deployer/scheduler/stream.h"

#include "core/file.h"
#include "core/proc.h"

#include <fcntl.h>

static int stream_open(const char *path, struct error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	return fd < 0 ? error_errno(err, "cannot open %s", path) : fd;
}

static void *stream_run(void *arg)
{
	struct stream *stream = arg;
	const struct proc proc = {.words = stream->words,
				  .output_fd = stream->fd,
				  .dies_with_us = true,
				  .even_when_interrupted = true,
				  .stop = &stream->stop};
	struct proc_result result = {0};
	struct error ignored = {0}; /* whoever wants the rest starts it again */

	proc_run(&proc, &result, &ignored);
	proc_result_release(&result);
	stream->has_ended = true;
	return NULL;
}

int stream_start(struct stream *stream, const char *const *words, const char *path,
		 struct error *err)
{
	stream_stop(stream);
	*stream = (struct stream){.words = words, .fd = stream_open(path, err)};
	if (stream->fd < 0)
		return -1;
	if (pthread_create(&stream->thread, NULL, stream_run, stream) != 0) {
		fd_close(&stream->fd);
		return error_set(err, ERROR_FAILED, "no thread for %s", words[0]);
	}
	stream->has_thread = true;
	return 0;
}

bool stream_runs(const struct stream *stream)
{
	return stream->has_thread && !stream->has_ended;
}

void stream_stop(struct stream *stream)
{
	if (!stream->has_thread)
		return;
	stream->stop = true;
	pthread_join(stream->thread, NULL);
	stream->has_thread = false;
	fd_close(&stream->fd);
}

int stream_once(const char *const *words, const char *path, int seconds, struct arena *arena,
		const char **said, struct error *err)
{
	_cleanup_(fd_close) int fd = stream_open(path, err);
	const struct proc proc = {.words = words,
				  .output_fd = fd,
				  .timeout_s = seconds,
				  .dies_with_us = true,
				  .even_when_interrupted = true};
	struct proc_result result = {0};
	int rc;

	*said = "";
	if (fd < 0)
		return -1;
	rc = proc_run(&proc, &result, err);
	if (rc == 0)
		*said = arena_strdup(arena, result.err.text);
	proc_result_release(&result);
	return rc;
}
