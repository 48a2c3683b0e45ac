/* SPDX-License-Identifier: MIT */
/* Horovod's Gloo listens on the address of the host's name: which names are refused, and with what advice. */
#include "tests/unit/support.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <sys/stat.h>

static int test_hostname(char *name, size_t size)
{
	snprintf(name, size, "node02");
	return 0;
}

/* A getent in the test's folder that knows node02 by this address; NULL: by none. */
static void getent_says(struct scratch *s, const char *address)
{
	struct error err = {0};
	const char *text = arena_printf(
		&s->arena, "#!/bin/sh\n[ \"$*\" = 'ahosts node02' ] || exit 1\n%s\n",
		address ? arena_printf(&s->arena,
				       "echo '%s  STREAM node02'; echo '10.9.9.9  DGRAM'", address)
			: "exit 2");

	assert_fine(file_write(in(s, "getent"), text, strlen(text), 0700, &err));
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
	struct scratch *s = *state;
	const char *path = arena_strdup(&s->arena, getenv("PATH"));
	char reason[GLOO_REASON_BYTES];

	setenv("PATH", arena_printf(&s->arena, "%s:%s", s->folder, path), 1);
	setenv("HOROVOD_SIZE", "3", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		setenv("HOROVOD_CONTROLLER", cases[i].controller, 1);
		setenv("HOROVOD_LOCAL_SIZE", cases[i].local, 1);
		setenv("HOROVOD_GLOO_IFACE", cases[i].interface, 1);
		getent_says(s, cases[i].address);
		assert_int_equal(gloo_is_reached(reason), !cases[i].says);
		if (cases[i].says)
			assert_non_null(strstr(reason, cases[i].says));
	}
	setenv("PATH", "/nowhere", 1); /* an image without getent is not judged */
	setenv("HOROVOD_CONTROLLER", "gloo", 1);
	setenv("HOROVOD_LOCAL_SIZE", "1", 1);
	assert_true(gloo_is_reached(reason));
	unsetenv("HOROVOD_CONTROLLER");
	setenv("PATH", path, 1);
	assert_true(gloo_is_reached(reason));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
