/* SPDX-License-Identifier: MIT */
#include "core/pool.h"

#include "core/arena.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#define POOL_THREADS_MAX 4096

struct pool {
	atomic_size_t next;
	size_t count;
	void (*fn)(void *arg, size_t index);
	void *arg;
};

static void *pool_work(void *argument)
{
	struct pool *pool = argument;
	size_t index;

	while ((index = atomic_fetch_add(&pool->next, 1)) < pool->count)
		pool->fn(pool->arg, index);
	return NULL;
}

void pool_each(size_t count, size_t threads, void (*fn)(void *arg, size_t index), void *arg)
{
	struct pool pool = {.count = count, .fn = fn, .arg = arg};
	_cleanup_(free_pointer) pthread_t *ids = NULL;
	size_t started = 0;

	if (threads > count)
		threads = count;
	if (threads > POOL_THREADS_MAX)
		threads = POOL_THREADS_MAX;
	ids = xmalloc((threads + 1) * sizeof(*ids));
	while (started + 1 < threads && pthread_create(&ids[started], NULL, pool_work, &pool) == 0)
		started++;
	pool_work(&pool);
	for (size_t i = 0; i < started; i++)
		pthread_join(ids[i], NULL);
}

size_t pool_cores(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	return (size_t)CPU_COUNT(&set);
}
