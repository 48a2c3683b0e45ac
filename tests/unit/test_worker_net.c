/* SPDX-License-Identifier: MIT */
/* Which of the worker's connections stay on this machine. */
#include "tests/unit/support.h"

#include "images/worker/clock.h"
#include "images/worker/net.c"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inside),
		cmocka_unit_test(test_not_inside),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
