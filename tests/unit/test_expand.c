/* SPDX-License-Identifier: MIT */
/* Host name ranges, and hosts named on a command line. */
#include "tests/unit/support.h"

#include "core/str.h"
#include "plan/cluster.h"

static const struct {
	const char *pattern, *names;
} good[] = {
	{"node01", "node01"},
	{"10.0.0.1", "10.0.0.1"},
	{"node[01-03,7]", "node01 node02 node03 node7"},
	{"node[08-11]", "node08 node09 node10 node11"},
	{"node[8-11]", "node8 node9 node10 node11"},
	{"node[001-002]", "node001 node002"},
	{"node[5]", "node5"},
	{"node[1-1]", "node1"},
	{"[1-2]", "1 2"},
	{"10.0.0.[9-11]", "10.0.0.9 10.0.0.10 10.0.0.11"},
	{"r[1-2]n[1-2]", "r1n1 r1n2 r2n1 r2n2"},
	{"r[1,3]n[1-2].example", "r1n1.example r1n2.example r3n1.example r3n2.example"},
	{"a[0-2]b", "a0b a1b a2b"},
	{"n[3,1]", "n3 n1"},
};

static void test_good(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		_cleanup_(str_release) struct str joined = {0};
		const char **names, *why = "";

		str_init(&joined);
		if (cluster_expand(good[i].pattern, &s->arena, &names, &why) < 0)
			fail_msg("%s: %s", good[i].pattern, why);
		for (; *names; names++)
			str_addf(&joined, "%s%s", joined.length ? " " : "", *names);
		assert_string_equal(joined.text, good[i].names);
	}
}

static const struct {
	const char *pattern, *why;
} bad[] = {
	{"", "empty"},
	{"node[1-3", "']'"},
	{"node1-3]", "']'"},
	{"a]b[1-2]", "']'"},
	{"node[]", "a range is written"},
	{"node[,]", "a range is written"},
	{"node[1,]", "a range is written"},
	{"node[,1]", "a range is written"},
	{"node[1,,2]", "a range is written"},
	{"node[a-b]", "a range is written"},
	{"node[1-]", "a range is written"},
	{"node[-1]", "a range is written"},
	{"node[1-2-3]", "a range is written"},
	{"node[1:3]", "a range is written"},
	{"node[1 - 3]", "a range is written"},
	{"node[[1]]", "a range is written"},
	{"node[3-1]", "must rise"},
	{"node[1-5000]", "more hosts"},
	{"node[0-4096]", "more hosts"},
	{"r[1-100]n[1-100]", "more hosts"},
	{"node[1-99999999999999999999]", "a range is written"},
};

static void test_bad(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char **names, *why = "";

		if (cluster_expand(bad[i].pattern, &s->arena, &names, &why) == 0)
			fail_msg("accepted: %s", bad[i].pattern);
		if (!strstr(why, bad[i].why))
			fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].pattern, why, bad[i].why);
	}
}

static void test_most(void **state)
{
	struct scratch *s = *state;
	const char **names, *why;
	size_t count = 0;

	assert_int_equal(cluster_expand("node[0001-4096]", &s->arena, &names, &why), 0);
	while (names[count])
		count++;
	assert_int_equal(count, CLUSTER_HOSTS_MAX);
	assert_string_equal(names[0], "node0001");
	assert_string_equal(names[4095], "node4096");
}

static const struct {
	const char *text, *address, *user; /* user NULL: an error */
	int port;
} reached[] = {
	{"node1", "10.0.0.7", "ops", 2222}, /* of the file */
	{"10.0.0.7", "10.0.0.7", "ops", 2222},
	{"10.0.0.8", "10.0.0.8", "root", 22},
	{"me@10.0.0.8:2200", "10.0.0.8", "me", 2200},
	{"far.example:22", "far.example", "root", 22},
	{"fe80::1", "fe80::1", "root", 22},
	{"me@[fe80::1]:2200", "fe80::1", "me", 2200},
	{"[fe80::1]", "fe80::1", "root", 22},
	{"", NULL, NULL, 0},
	{"@a", NULL, NULL, 0},
	{"me@", NULL, NULL, 0},
	{"a:", NULL, NULL, 0},
	{"a:0", NULL, NULL, 0},
	{"a:65536", NULL, NULL, 0},
	{"a:22x", NULL, NULL, 0},
	{"a b", NULL, NULL, 0},
	{"[fe80::1]x", NULL, NULL, 0},
	{"-oProxyCommand=x", NULL, NULL, 0},
	{"-l@a", NULL, NULL, 0},
	{"me@-a", NULL, NULL, 0},
	{"ssh://a", NULL, NULL, 0},
};

static void test_reach(void **state)
{
	struct scratch *s = *state;
	struct host known = {.name = "node1", .address = "10.0.0.7", .user = "ops", .port = 2222};
	struct cluster cluster;

	cluster_init("cluster.yaml", &s->arena, &cluster);
	cluster.hosts = &known;
	cluster.host_count = 1;
	for (size_t i = 0; i < ARRAY_LEN(reached); i++) {
		struct error err = {0};
		struct host host;

		if (!reached[i].user) {
			assert_fails(
				cluster_reach(&cluster, reached[i].text, &s->arena, &host, &err),
				ERROR_USAGE, "is no host of cluster.yaml");
			continue;
		}
		assert_fine(cluster_reach(&cluster, reached[i].text, &s->arena, &host, &err));
		assert_string_equal(host.address, reached[i].address);
		assert_string_equal(host.user, reached[i].user);
		assert_int_equal(host.port, reached[i].port);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_good),
		SCRATCH_TEST(test_bad),
		SCRATCH_TEST(test_most),
		SCRATCH_TEST(test_reach),
	};

	return cmocka_run_group_tests_name("expand", tests, NULL, NULL);
}
