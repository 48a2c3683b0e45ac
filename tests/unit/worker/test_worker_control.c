/* SPDX-License-Identifier: MIT */
/*
 * When the worker's control thread looks again: a deadline is met, not passed by up to a tick. And who may leave when.
 */
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

static void nobody_hangs(void *arg, const struct failure *failure, bool alone)
{
	(void)arg;
	(void)failure;
	(void)alone;
	abort();
}

/* Rank 0's part of the last barrier: it hears the other one, answers and leaves at once. */
static void *play_root(void *arg)
{
	const struct frame share = {.type = FRAME_SHARE};
	struct frame part;
	int fd = *(int *)arg;

	assert_int_equal(read(fd, &part, sizeof(part)), sizeof(part));
	assert_int_equal(part.type, FRAME_PART);
	assert_int_equal(write(fd, &share, sizeof(share)), sizeof(share));
	close(fd);
	return NULL;
}

/* Whether the thread has seen the end of the connection, or does not look for it any more. */
static bool is_over(struct control *c)
{
	bool over;

	pthread_mutex_lock(&c->lock);
	over = c->closing || c->peers[0].gone;
	pthread_mutex_unlock(&c->lock);
	return over;
}

/* Rank 0 often leaves before the others have closed their devices. That is no failure of the run. */
static void test_root_leaves_first(void **state)
{
	struct failure err = {.status = STATUS_PASS};
	struct member members[2] = {{.pid = 0}};
	struct group group = {.rank = 1, .world = 2, .timeout_usec = 60000000, .members = members};
	int pair[2];
	pthread_t root;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
	group.control = control_start(&group, &pair[0], nobody_hangs, NULL, &err);
	assert_non_null(group.control);
	assert_int_equal(pthread_create(&root, NULL, play_root, &pair[1]), 0);
	assert_int_equal(control_finish(group.control, &err), 0);
	pthread_join(root, NULL);
	while (!is_over(group.control))
		usleep(1000);
	assert_false(control_failed(group.control));
	control_stop(group.control);
}

/* Rank 1 gives up on a silent rank 0 and ends: to rank 2 it looks as if rank 1 were lost. A report to rank 0 that stays without
 * an answer says who is silent; what this rank has seen itself stays where nobody else can be its cause. */
static void test_silent_root(void **state)
{
	static const struct {
		enum status seen, said;
		int rank;
	} cases[] = {{STATUS_LOST, STATUS_TIMEOUT, 0}, {STATUS_DATA, STATUS_DATA, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct failure err;
		struct member members[3] = {
			{.host = "host0"}, {.host = "host1"}, {.host = "host2"}};
		struct group group = {
			.rank = 2, .world = 3, .timeout_usec = 60000000, .members = members};
		int pair[2];

		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
		assert_int_equal(fcntl(pair[0], F_SETFL, O_NONBLOCK), 0);
		group.control = control_start(&group, &pair[0], nobody_hangs, NULL, &err);
		assert_non_null(group.control);
		failure_set(&err, cases[i].seen, 1, "host1",
			    "rank 1 (host1) is gone: its data connection ended");
		assert_true(control_raise(group.control, &err));
		assert_int_equal(err.status, cases[i].said);
		assert_int_equal(err.rank, cases[i].rank);
		assert_string_equal(err.host, members[cases[i].rank].host);
		assert_non_null(strstr(err.reason, "rank 1 (host1) is gone"));
		control_stop(group.control);
		close(pair[1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_in_time),
		cmocka_unit_test(test_root_leaves_first),
		cmocka_unit_test(test_silent_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
