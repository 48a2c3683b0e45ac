/* SPDX-License-Identifier: MIT */
/* What differs between hosts and since last time, folded names of hosts, and facts that are only rows. */
#include "tests/unit/support.h"

#include "plan/cluster.h"
#include "plan/facts_diff.h"
#include "plan/host_fold.h"

static struct facts *host(struct scratch *s, const char *name, const char *lines)
{
	struct facts *facts = ARENA_NEW(&s->arena, struct facts);
	struct error err = {0};

	assert_fine(facts_parse(name, arena_printf(&s->arena, "kernel=6.1\n%s", lines), 0,
				&s->arena, facts, &err));
	return facts;
}

static void test_rows(void **state)
{
	for (size_t i = 0; i < fact_row_count; i++) {
		assert_int_equal(fact_row(fact_rows[i].key), i);
		assert_true(*fact_rows[i].meaning);
	}
	assert_true(fact_row("nothing") == FACT_NONE);
	assert_true(fact_row_count > 100);
	(void)state;
}

static void test_more(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct facts again, *f = host(s, "a",
				      "swap_bytes=1e400\ncpu_model=EPYC\nnuma_nodes=2\n"
				      "load=0.25\nkernel_pid_max=nan\ncgroup=\n");
	cJSON *json = facts_to_json(f);

	assert_string_equal(facts_text(f, fact_row("swap_bytes"), &s->arena), "0");
	assert_string_equal(facts_text(f, fact_row("load"), &s->arena), "0.25");
	assert_string_equal(facts_text(f, fact_row("numa_nodes"), &s->arena), "2");
	assert_string_equal(facts_text(f, fact_row("cgroup"), &s->arena), "");
	assert_string_equal(facts_text(f, fact_row("selinux"), &s->arena), "");
	assert_null(cJSON_GetObjectItem(json, "selinux"));
	assert_true(cJSON_IsNumber(cJSON_GetObjectItem(json, "load")));
	assert_fine(facts_from_json(json, &s->arena, &again, &err));
	for (size_t i = 0; i < fact_row_count; i++)
		assert_string_equal(facts_text(f, i, &s->arena), facts_text(&again, i, &s->arena));
	cJSON_Delete(json);
}

static void test_differences(void **state)
{
	struct scratch *s = *state;
	const struct facts *hosts[] = {
		host(s, "node01", "driver=535.54\nhostname=a\nload=1\n"),
		host(s, "node02", "driver=550.90\nhostname=b\nload=2\n"),
		host(s, "node03", "driver=550.90\nhostname=c\ncgroup=v2\n"),
	};
	struct fact_difference *list;

	assert_int_equal(facts_differences(hosts, 3, &s->arena, &list), 2);
	assert_string_equal(fact_rows[list[0].row].key, "cgroup");
	assert_string_equal(list[0].groups[0].value, "");
	assert_string_equal(list[0].groups[1].value, "v2");
	assert_string_equal(fact_rows[list[1].row].key, "driver");
	assert_string_equal(list[1].groups[0].value, "550.90");
	assert_int_equal(list[1].groups[0].hosts.count, 2);
	assert_string_equal(list[1].groups[1].hosts.list[0], "node01");
	assert_int_equal(facts_differences(hosts, 1, &s->arena, &list), 0);
	assert_int_equal(facts_differences(hosts, 0, &s->arena, &list), 0);
}

static void test_changes(void **state)
{
	struct scratch *s = *state;
	struct facts *before = host(s, "a", "driver=535.54\nload=1\ngpu_uuids=GPU-1\ncgroup=v2\n");
	struct facts *now = host(s, "a", "driver=550.90\nload=2\ngpu_uuids=GPU-2\n");
	size_t *rows = ARENA_ARRAY(&s->arena, fact_row_count, size_t);

	assert_int_equal(facts_changes(before, now, &s->arena, rows), 3);
	facts_keep_details(now, before, &s->arena);
	assert_int_equal(facts_changes(before, now, &s->arena, rows), 2);
	assert_string_equal(facts_text(now, fact_row("load"), &s->arena), "2");
}

static void test_fold(void **state)
{
	static const struct {
		const char *set, *folded;
	} rows[] = {
		{"node01,node02,node03,node07", "node[01-03,07]"},
		{"node1,node2,node10", "node[1-2],node10"},
		{"a", "a"},
		{"login,node01,node02", "login,node[01-02]"},
		{"rack1-gpu0,rack1-gpu1,rack2-gpu0", "rack1-gpu[0-1],rack2-gpu0"},
		{"n1.lan,n2.lan,n3.dmz", "n[1-2].lan,n3.dmz"},
		{"10.0.0.1,10.0.0.2", "10.0.0.[1-2]"},
		{"10.0.0.9,10.0.0.10", "10.0.0.9,10.0.0.10"},
		{"fd00::1,fd00::2", "fd00::1,fd00::2"},
		{"7,8", "7,8"},
		{"node2,node1", "node[2,1]"},
		{"host9999999999,host9999999998", "host9999999999,host9999999998"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct words names = WORDS_INIT(&s->arena), again = WORDS_INIT(&s->arena);
		const char *why;

		assert_int_equal(cluster_expand_set(rows[i].set, &names, &why), 0);
		assert_string_equal(hosts_fold(words_list(&names), &s->arena), rows[i].folded);
		assert_int_equal(cluster_expand_set(rows[i].folded, &again, &why), 0);
		assert_string_equal(words_join(&again, ","), rows[i].set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_rows),    SCRATCH_TEST(test_more), SCRATCH_TEST(test_differences),
		SCRATCH_TEST(test_changes), SCRATCH_TEST(test_fold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
