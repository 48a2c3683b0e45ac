/* SPDX-License-Identifier: MIT */
/* Sets of hosts: ranges, sets of a cluster, and the shortest way to write one; against ClusterShell. */
#include "tests/unit/support.h"

#include "core/file.h"
#include "plan/host_set.h"

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
	{"n[0-6/2]", "n0 n2 n4 n6"},
	{"n[08-12/3,1]", "n08 n11 n1"},
	{"n[1-9/10]", "n1"},
};

static void test_good(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct words names = WORDS_INIT(&s->arena);
		const char *why = "";

		if (host_set_expand(good[i].pattern, &names, &why) < 0)
			fail_msg("%s: %s", good[i].pattern, why);
		assert_string_equal(words_join(&names, " "), good[i].names);
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
	{"node[1-3/0]", "a range is written"},
	{"node[1-3/]", "a range is written"},
	{"node[1-3/2/2]", "a range is written"},
	{"node[1-5000]", "more hosts"},
	{"node[0-4096]", "more hosts"},
	{"r[1-100]n[1-100]", "more hosts"},
	{"node[1-99999999999999999999]", "a range is written"},
};

static void test_bad(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct words names = WORDS_INIT(&s->arena);
		const char *why = "";

		if (host_set_expand(bad[i].pattern, &names, &why) == 0)
			fail_msg("accepted: %s", bad[i].pattern);
		if (!strstr(why, bad[i].why))
			fail_msg("%s: \"%s\" does not say \"%s\"", bad[i].pattern, why, bad[i].why);
	}
}

static void test_most(void **state)
{
	struct scratch *s = *state;
	struct words names = WORDS_INIT(&s->arena);
	const char *why;

	assert_int_equal(host_set_expand("node[0001-4096]", &names, &why), 0);
	assert_int_equal(names.count, CLUSTER_HOSTS_MAX);
	assert_string_equal(names.list[0], "node0001");
	assert_string_equal(names.list[4095], "node4096");
	assert_string_equal(host_set_fold(names.list, &s->arena), "node[0001-4096]");
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
		int rc = host_set_expand(cases[i].set, &names, &why);

		assert_int_equal(rc, cases[i].expected ? 0 : -1);
		if (cases[i].expected)
			assert_string_equal(words_join(&names, " "), cases[i].expected);
		else
			assert_string_not_equal(why, "");
	}
}

/* The names in the order of their bytes, as one text. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static const char *sorted(struct words *names)
{
	if (names->count)
		qsort(names->list, names->count, sizeof(*names->list), by_text);
	return words_join(names, " ");
}

static size_t items_of(const char *set)
{
	size_t items = 1;
	int depth = 0;

	for (; *set; set++) {
		depth += (*set == '[') - (*set == ']');
		items += *set == ',' && !depth;
	}
	return items;
}

/* The next of the three columns of a row. */
static char *column(char **row)
{
	char *text = *row, *end = strstr(text, " | ");

	if (end) {
		*end = '\0';
		*row = end + 3;
	}
	return text;
}

/* One row of what nodeset says; 1 when our folded set is the very same text. */
static size_t check_row(struct scratch *s, const struct cluster *c, char *row)
{
	struct words names = WORDS_INIT(&s->arena), theirs = WORDS_INIT(&s->arena),
		     again = WORDS_INIT(&s->arena);
	struct error err = {0};
	const char *set = column(&row), *folded;
	char *expanded = column(&row), *word;

	while ((word = strsep(&expanded, " ")))
		if (*word)
			words_add(&theirs, word);
	if (host_set_names(c, set, &names, &err) < 0)
		fail_msg("%s: %s", set, err.text);
	assert_string_equal(sorted(&names), sorted(&theirs));
	if (!names.count)
		return 1;
	folded = host_set_fold(names.list, &s->arena);
	assert_fine(host_set_names(c, folded, &again, &err));
	assert_string_equal(sorted(&again), sorted(&names));
	if (items_of(folded) > items_of(row))
		fail_msg("%s: \"%s\" is longer than \"%s\"", set, folded, row);
	return strcmp(folded, row) == 0;
}

/* tests/golden/host_sets/nodeset.txt holds what ClusterShell says of 200 sets, 170 of them random. */
static void test_nodeset(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;
	char *text, *line;
	size_t rows = 0, same = 0;

	cluster_init("cluster.yaml", &s->arena, &c);
	assert_fine(file_read(
		arena_printf(&s->arena, "%s/tests/golden/host_sets/nodeset.txt", source_root(s)),
		MIB, &s->arena, &text, NULL, &err));
	while ((line = strsep(&text, "\n"))) {
		if (!*line || *line == '#')
			continue;
		rows++;
		same += check_row(s, &c, line);
	}
	assert_int_equal(rows, 200);
	if (same < 150)
		fail_msg("only %zu of 200 are folded as nodeset does", same);
}

static const char GROUPS[] =
	"name: lab\n"
	"hosts: [\"node[01-08]\", {hosts: \"big[1-2],huge\", user: ops}]\n"
	"groups: {small: \"node[01-04]\", fat: \"big[1-2],huge\", most: \"@*!@fat\"}\n";

static void test_groups(void **state)
{
	static const struct {
		const char *set, *expected; /* or a part of the error */
		bool bad;
	} cases[] = {
		{"@small", "node01 node02 node03 node04", false},
		{"@fat,node08", "big1 big2 huge node08", false},
		{"@most&node0[7-9]", "node07 node08", false},
		{"!@most", "big1 big2 huge", false},
		{"@*!@small!@fat", "node05 node06 node07 node08", false},
		{"b*", "big1 big2", false},
		{"node0?!node0[1-7]", "node08", false},
		{"^FILE", "node01 node03 node05 huge", false},
		{"@none", "there is no group '@none'", true},
		{"x*", "no host of", true},
		{"node01,,node02", "a name is empty", true},
		{"node01,", "a name is empty", true},
		{"node01!", "a name is empty", true},
		{"^gone", "gone", true},
		{"^BAD", "BAD:2: 'node[': a '[' needs its ']'", true},
		{"^LOOP", "that name each other", true},
	};
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;

	assert_fine(cluster_load(put(s, "cluster.yaml", GROUPS), &s->arena, &c, &err));
	assert_int_equal(c.host_count, 11);
	assert_string_equal(c.hosts[10].user, "ops");
	put(s, "FILE", "# first\nnode01 node03\n\tnode05 # x\r\n\nhuge\n");
	put(s, "BAD", "node01\nnode[\n");
	put(s, "LOOP", arena_printf(&s->arena, "^%s\n", in(s, "LOOP")));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct words names = WORDS_INIT(&s->arena);
		const char *set = cases[i].set;

		if (*set == '^')
			set = arena_printf(&s->arena, "^%s", in(s, set + 1));
		err = (struct error){0};
		if (cases[i].bad) {
			assert_fails(host_set_names(&c, set, &names, &err), ERROR_USAGE,
				     cases[i].expected);
			continue;
		}
		assert_fine(host_set_names(&c, set, &names, &err));
		assert_string_equal(words_join(&names, " "), cases[i].expected);
	}
}

static void test_bad_groups(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;

	assert_fails(
		cluster_load(put(s, "cluster.yaml", "hosts: [a]\ngroups: {x: \"@y\", y: \"@x\"}\n"),
			     &s->arena, &c, &err),
		ERROR_USAGE, "cluster.yaml:2:");
	err = (struct error){0};
	assert_fails(cluster_load(put(s, "cluster.yaml", "hosts: [a]\ngroups: {x: \"b[1\"}\n"),
				  &s->arena, &c, &err),
		     ERROR_USAGE, "cluster.yaml:2:13: 'b[1'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_good),       SCRATCH_TEST(test_bad),
		SCRATCH_TEST(test_most),       SCRATCH_TEST(test_set),
		SCRATCH_TEST(test_nodeset),    SCRATCH_TEST(test_groups),
		SCRATCH_TEST(test_bad_groups),
	};

	return cmocka_run_group_tests_name("host_set", tests, NULL, NULL);
}
