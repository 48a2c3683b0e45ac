/* SPDX-License-Identifier: MIT */
/* Which of the worker's connections stay on this machine, and how much may be under way on them. */
#include "tests/unit/support.h"

#define failure_set worker_failure_set /* another folder has one, too */
#include "images/worker/clock.h"
#include "images/worker/failure.c"
#include "images/worker/text.c"
#include "images/worker/net/net.c"
#include "images/worker/backend/cpu/ring_links.c"

#include <netinet/in.h>

#define SECOND_USEC 1000000

/* A connection to a listener at `address`; -1 when this machine has no such address. */
static int connect_to(const char *address, int *listener)
{
	struct endpoint endpoint;

	assert_int_equal(net_resolve(address, "0", &endpoint), 0);
	*listener = net_listen(&endpoint);
	return *listener < 0 ? -1 : net_connect(&endpoint, clock_usec() + SECOND_USEC);
}

static void test_inside(void **state)
{
	static const char *const addresses[] = {"127.0.0.1", "127.0.0.2", "::1"};
	int own = 0;
	socklen_t bytes = sizeof(own);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(addresses); i++) {
		int listener, fd = connect_to(addresses[i], &listener), limited;

		if (fd < 0 && strchr(addresses[i], ':'))
			continue; /* IPv6 is switched off */
		assert_true(fd >= 0);
		assert_true(net_is_inside(fd));
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &own, &bytes), 0);
		net_limit_send(fd, 100000);
		assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &limited, &bytes), 0);
		assert_int_equal(limited, 200000); /* the kernel doubles it: socket(7) */
		assert_int_not_equal(own, limited);
		close(fd);
		close(listener);
	}
}

/* A socket that leads nowhere, and none. */
static void test_not_inside(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	(void)state;
	assert_false(net_is_inside(fd));
	close(fd);
	assert_false(net_is_inside(fd));
	net_limit_send(fd, 100000);
}

/* The ring's surroundings: every connection is one to a listener here. */
static int listener = -1;

int link_meet(const struct group *group, struct link_call *calls, int count,
	      const struct link_taker *taker, int64_t deadline, struct failure *err)
{
	(void)group;
	(void)taker;
	(void)deadline;
	(void)err;
	for (int i = 0; i < count; i++)
		calls[i].fd = connect_to("127.0.0.1", &listener);
	return 0;
}

void *segment_private(size_t bytes)
{
	return calloc(1, bytes);
}

void control_awaits(struct control *control, int rank, uint64_t done)
{
	(void)control;
	(void)rank;
	(void)done;
}

bool control_failed(const struct control *control)
{
	(void)control;
	return false;
}

static int sent_at_once(bool crowded)
{
	static const int leaders[] = {0, 1};
	struct member members[2] = {{.host = "a"}, {.host = "b"}};
	const struct group group = {.world = 2, .members = members};
	socklen_t bytes = sizeof(int);
	struct failure err = {0};
	struct ring ring;
	int limit;

	assert_int_equal(ring_open(&ring, &group, leaders, 2, leaders, crowded, &err), 0);
	assert_int_equal(getsockopt(ring.out[0], SOL_SOCKET, SO_SNDBUF, &limit, &bytes), 0);
	ring_release(&ring);
	close(listener);
	return limit;
}

/* Ranks that share cores: the kernel gives at most what it may (net.core.wmem_max), doubled. */
static void test_crowded(void **state)
{
	int own = sent_at_once(false), limited = sent_at_once(true);

	(void)state;
	assert_int_not_equal(limited, own);
	assert_in_range(limited, 1, 2 * CROWDED_SEND_BYTES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_not_inside),
		cmocka_unit_test(test_crowded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
