/* SPDX-License-Identifier: MIT */
/* Horovod's Gloo listens on the address of the host's name: which names are refused, and with what advice. */
#include "tests/unit/support.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netdb.h>

static const char *resolved; /* NULL: the name has no address */

static int test_hostname(char *name, size_t size)
{
	snprintf(name, size, "node02");
	return 0;
}

static int test_resolve(const char *name, const char *service, const struct addrinfo *hints,
			struct addrinfo **list)
{
	assert_string_equal(name, "node02");
	return resolved ? getaddrinfo(resolved, service, hints, list) : EAI_NONAME;
}

static int test_interfaces(struct ifaddrs **list)
{
	static char lo[] = "lo", eth[] = "eth0";
	static struct sockaddr_in outer = {.sin_family = AF_INET}, inner = {.sin_family = AF_INET};
	static struct ifaddrs all[] = {
		{.ifa_next = &all[1], .ifa_name = lo},
		{.ifa_next = &all[2], .ifa_name = lo, .ifa_addr = (struct sockaddr *)&inner},
		{.ifa_name = eth, .ifa_addr = (struct sockaddr *)&outer}};

	inet_pton(AF_INET, "127.0.0.3", &inner.sin_addr);
	inet_pton(AF_INET, "10.0.0.2", &outer.sin_addr);
	*list = all;
	return 0;
}

#define gethostname test_hostname
#define getaddrinfo test_resolve
#define getifaddrs test_interfaces
#define freeifaddrs(list) (void)(list)
#include "images/worker/job/gloo.c"

static void test_names(void **state)
{
	static const struct {
		const char *controller, *local, *interface, *address;
		const char *says; /* NULL: it is fine */
	} cases[] = {
		{"gloo", "1", "eth0", "10.0.0.2", NULL},
		{"gloo", "1", "eth0", "192.168.0.2", NULL},
		{"gloo", "1", "eth0", NULL, "node02, has no address here"},
		{"gloo", "1", "eth0", NULL, "put the line '10.0.0.2 node02' into its /etc/hosts"},
		{"gloo", "1", "eth0", "127.0.1.1", "node02, has 127.0.1.1 here"},
		{"gloo", "1", "eth0", "::1", "node02, has ::1 here"},
		{"gloo", "1", "eth7", NULL, "put the line 'ADDRESS node02'"},
		{"gloo", "1", "lo", "127.0.1.1", NULL}, /* hosts of one machine */
		{"gloo", "3", "eth0", NULL, NULL},
		{"mpi", "1", "eth0", NULL, NULL},
	};
	char reason[GLOO_REASON_BYTES];

	(void)state;
	setenv("HOROVOD_SIZE", "3", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("HOROVOD_CONTROLLER", cases[i].controller, 1);
		setenv("HOROVOD_LOCAL_SIZE", cases[i].local, 1);
		setenv("HOROVOD_GLOO_IFACE", cases[i].interface, 1);
		resolved = cases[i].address;
		assert_int_equal(gloo_is_reached(reason), !cases[i].says);
		if (cases[i].says)
			assert_non_null(strstr(reason, cases[i].says));
	}
	unsetenv("HOROVOD_CONTROLLER");
	assert_true(gloo_is_reached(reason));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
