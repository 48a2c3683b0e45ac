/* SPDX-License-Identifier: MIT */
/* When the worker's control thread looks again: a deadline is met, not passed by up to a tick. */
#include "tests/unit/support.h"

#define failure_set worker_failure_set /* another folder has one, too */
#include "images/worker/rendezvous/control.c"
#include "images/worker/rendezvous/control_thread.c"
#include "images/worker/failure.c"
#include "images/worker/net/net.c"
#include "images/worker/text.c"

#define SOON_USEC 100000
#define SOON_MSEC 100

static void test_looks_in_time(void **state)
{
	struct control c = {.patience_usec = 0};

	(void)state;
	assert_int_equal(next_msec(&c), TICK_MSEC);
	atomic_store(&c.step_deadline_usec, clock_usec() + 60000000);
	assert_int_equal(next_msec(&c), TICK_MSEC);
	/* the end of a wait */
	atomic_store(&c.step_deadline_usec, clock_usec() + SOON_USEC);
	assert_in_range(next_msec(&c), 0, SOON_MSEC);
	/* rank 0 was asked after it */
	atomic_store(&c.step_deadline_usec, clock_usec());
	c.patience_usec = clock_usec() + 60000000;
	assert_int_equal(next_msec(&c), TICK_MSEC);
	c.patience_usec = clock_usec() + SOON_USEC;
	assert_in_range(next_msec(&c), 0, SOON_MSEC);
	/* rank 0 asks the others */
	c.suspected = true;
	c.settle_usec = clock_usec() + 60000000;
	assert_int_equal(next_msec(&c), TICK_MSEC);
	c.settle_usec = clock_usec() + SOON_USEC;
	assert_in_range(next_msec(&c), 0, SOON_MSEC);
	/* it is known: nothing is due any more */
	atomic_store(&c.failed, true);
	assert_int_equal(next_msec(&c), TICK_MSEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
