/* SPDX-License-Identifier: MIT */
/* Looks after a backend's probe(), which asks drivers before any other rank could miss this one: they may hang. */
#ifndef WORKER_BACKEND_WATCH_H
#define WORKER_BACKEND_WATCH_H

#include <pthread.h>
#include <stdbool.h>

struct watch {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t thread;
	bool runs, is_over;
	int seconds;
	void (*late)(void *arg); /* in a thread of its own, after that time; it ends the process */
	void *arg;
};

/* @late must not use what the main thread may hold. */
void watch_begin(struct watch *watch, int seconds, void (*late)(void *arg), void *arg);
void watch_end(struct watch *watch);

#endif
