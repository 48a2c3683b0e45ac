/* SPDX-License-Identifier: MIT */
/* Host name ranges. */
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
		_cleanup_(str_release) struct str joined = STR_INIT;
		const char **names, *why = "";

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

static void test_set(void **state)
{
	static const struct {
		const char *set, *expected; /* NULL: no set */
	} cases[] = {
		{"a", "a"},
		{"node[01-02,7],login,r[1-2]n[3,4]",
		 "node01 node02 node7 login r1n3 r1n4 r2n3 r2n4"},
		{"a,,b", NULL},
		{",a", NULL},
		{"a,", NULL},
		{"", NULL},
		{"a[1,b", NULL},
		{"a]1,b", NULL},
		{"a[1-2]],b", NULL},
		{"r[1-100]n[1-40],x[1-200]", NULL}, /* more than a cluster may have */
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct words names = WORDS_INIT(&s->arena);
		const char *why = "";
		int rc = cluster_expand_set(cases[i].set, &names, &why);

		assert_int_equal(rc, cases[i].expected ? 0 : -1);
		if (cases[i].expected)
			assert_string_equal(words_join(&names, " "), cases[i].expected);
		else
			assert_string_not_equal(why, "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_good),
		SCRATCH_TEST(test_bad),
		SCRATCH_TEST(test_most),
		SCRATCH_TEST(test_set),
	};

	return cmocka_run_group_tests_name("expand", tests, NULL, NULL);
}
