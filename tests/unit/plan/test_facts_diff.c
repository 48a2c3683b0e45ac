/* SPDX-License-Identifier: MIT */
/* What differs between hosts and since last time, and facts that are only rows. */
#include "tests/unit/support.h"

#include "plan/cluster.h"
#include "plan/facts_diff.h"

static struct facts *host(struct scratch *s, const char *name, const char *lines)
{
	struct facts *facts = ARENA_NEW(&s->arena, struct facts);
	struct error err = {0};

	assert_fine(facts_parse(name, arena_printf(&s->arena, "kernel=6.1\n%s", lines), NULL,
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_rows),
		SCRATCH_TEST(test_more),
		SCRATCH_TEST(test_differences),
		SCRATCH_TEST(test_changes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
