/* SPDX-License-Identifier: MIT */
/* Work side by side: each index once, never more threads than asked for. */
#include "tests/unit/support.h"

#include "core/pool.h"

#include <pthread.h>
#include <stdatomic.h>

struct work {
	atomic_int seen[5000], running, most;
	atomic_size_t started;
	unsigned int sleep_usec;
	pthread_t caller;
	atomic_int elsewhere;
};

static void work_init(struct work *w, unsigned int sleep_usec)
{
	memset(w, 0, sizeof(*w));
	w->sleep_usec = sleep_usec;
	w->caller = pthread_self();
}

static void one(void *arg, size_t index)
{
	struct work *w = arg;
	int running = atomic_fetch_add(&w->running, 1) + 1;
	int most = atomic_load(&w->most);

	while (running > most && !atomic_compare_exchange_weak(&w->most, &most, running))
		;
	if (!pthread_equal(pthread_self(), w->caller))
		atomic_store(&w->elsewhere, 1);
	atomic_fetch_add(&w->seen[index], 1);
	if (w->sleep_usec)
		usleep(w->sleep_usec);
	atomic_fetch_sub(&w->running, 1);
}

static void test_each_index_once(void **state)
{
	static const size_t threads[] = {0, 1, 2, 7, 64, 10000};
	static struct work w;

	(void)state;
	for (size_t t = 0; t < ARRAY_LEN(threads); t++) {
		work_init(&w, 0);
		pool_each(ARRAY_LEN(w.seen), threads[t], one, &w);
		for (size_t i = 0; i < ARRAY_LEN(w.seen); i++)
			assert_int_equal(w.seen[i], 1);
		assert_int_equal(w.running, 0);
	}
}

static void test_nothing_to_do(void **state)
{
	static struct work w;

	(void)state;
	work_init(&w, 0);
	pool_each(0, 8, one, &w);
	assert_int_equal(w.most, 0);
}

static void test_bounded(void **state)
{
	static struct work w;

	(void)state;
	work_init(&w, 5000);
	pool_each(60, 4, one, &w);
	assert_true(w.most <= 4);
	assert_true(w.most > 1);
}

/* As many at once as asked for, though the machine has fewer processors: hosts only wait. */
static void test_side_by_side(void **state)
{
	static struct work w;

	(void)state;
	work_init(&w, 300000);
	pool_each(64, 64, one, &w);
	assert_int_equal(w.most, 64);
}

static void test_one_thread_is_the_caller(void **state)
{
	static struct work w;

	(void)state;
	work_init(&w, 0);
	pool_each(100, 1, one, &w);
	assert_int_equal(w.elsewhere, 0);
	assert_int_equal(w.most, 1);
	assert_true(pool_cores() >= 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_index_once),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_bounded),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_one_thread_is_the_caller),
	};

	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
