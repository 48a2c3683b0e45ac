/* SPDX-License-Identifier: MIT */
/* stream.h - a command beside this thread whose output goes to the end of a file. */
#ifndef DEPLOYER_SCHEDULER_STREAM_H
#define DEPLOYER_SCHEDULER_STREAM_H

#include "core/arena.h"
#include "core/error.h"

#include <pthread.h>
#include <stdatomic.h>

/* Zero is none. It stays where it is while its command runs. */
struct stream {
	pthread_t thread;
	bool has_thread;
	atomic_bool has_ended, stop;
	const char *const *words;
	int fd;
};

/* Starts the command, which ends with this process. The words live until stream_stop. */
int stream_start(struct stream *stream, const char *const *words, const char *path,
		 struct error *err);

/* Whether it was started and has not ended by itself. */
bool stream_runs(const struct stream *stream);

/* Ends it; none is fine. */
void stream_stop(struct stream *stream);

/* Runs a command to its end, at most `seconds`; *said is what it printed on stderr. */
int stream_once(const char *const *words, const char *path, int seconds, struct arena *arena,
		const char **said, struct error *err);

#endif
