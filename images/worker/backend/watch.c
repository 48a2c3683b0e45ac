/* SPDX-License-Identifier: MIT */
#include "backend/watch.h"

#include <errno.h>
#include <time.h>

static void *watch_probe(void *arg)
{
	struct watch *watch = arg;
	struct timespec deadline;
	int rc = 0;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_sec += watch->seconds;
	pthread_mutex_lock(&watch->lock);
	while (!watch->is_over && rc != ETIMEDOUT)
		rc = pthread_cond_timedwait(&watch->changed, &watch->lock, &deadline);
	if (!watch->is_over)
		watch->late(watch->arg);
	pthread_mutex_unlock(&watch->lock);
	return NULL;
}

void watch_begin(struct watch *watch, int seconds, void (*late)(void *arg), void *arg)
{
	*watch = (struct watch){.lock = PTHREAD_MUTEX_INITIALIZER,
				.changed = PTHREAD_COND_INITIALIZER,
				.seconds = seconds,
				.late = late,
				.arg = arg};
	watch->runs = pthread_create(&watch->thread, NULL, watch_probe, watch) == 0;
}

void watch_end(struct watch *watch)
{
	if (!watch->runs)
		return;
	pthread_mutex_lock(&watch->lock);
	watch->is_over = true;
	pthread_cond_signal(&watch->changed);
	pthread_mutex_unlock(&watch->lock);
	pthread_join(watch->thread, NULL);
	watch->runs = false;
}
