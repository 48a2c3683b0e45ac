/* SPDX-License-Identifier: MIT */
/* Hosts side by side: one error each, and no failure hides another. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/launcher/launcher.h"

static int fail_some(struct member *m, void *arg, struct error *err)
{
	const char *const *names = arg;

	for (; *names; names++)
		if (strcmp(*names, m->host->name) == 0)
			return error_set(err, ERROR_FAILED, "%s: no answer", m->host->name);
	m->changed = true;
	return 0;
}

static void test_partial(void **state)
{
	static const char *const broken[] = {"n2", "n4", NULL}, *const nobody[] = {NULL};
	struct fleet *fleet = make_fleet(*state, "hosts: [\"n[1-5]\"]\n");
	struct error err = {0};

	fleet_each(fleet, fail_some, (void *)(uintptr_t)nobody);
	assert_fine(fleet_result(fleet, &err));
	fleet_each(fleet, fail_some, (void *)(uintptr_t)broken);
	assert_int_equal(fleet_failures(fleet), 2);
	assert_fails(fleet_result(fleet, &err), ERROR_PARTIAL, "n2, n4: no answer");
	assert_has(err.text, "2 of 5 hosts failed");
	assert_lacks(err.text, "n1");
}

/* Who failed is left out of the steps after it, and keeps its first error. */
static void test_failed_members_rest(void **state)
{
	static const char *const first[] = {"n1", NULL}, *const all[] = {"n1", "n2", NULL};
	struct fleet *fleet = make_fleet(*state, "hosts: [\"n[1-3]\"]\n");

	fleet_each(fleet, fail_some, (void *)(uintptr_t)first);
	error_wrap(&fleet->members[0].err, "first");
	fleet_each(fleet, fail_some, (void *)(uintptr_t)all);
	assert_string_equal(fleet->members[0].err.text, "first: n1: no answer");
	assert_false(fleet->members[0].changed);
	assert_true(fleet->members[2].changed);
	assert_int_equal(fleet_failures(fleet), 2);
}

/* Who waits is left out, too, and is neither failed nor done. */
static void test_waiting_members(void **state)
{
	static const char *const broken[] = {"n1", NULL};
	struct fleet *fleet = make_fleet(*state, "hosts: [\"n[1-4]\"]\n");
	struct error err = {0};

	fleet->members[2].waits = fleet->members[3].waits = true;
	fleet_each(fleet, fail_some, (void *)(uintptr_t)broken);
	assert_true(fleet->members[1].changed);
	assert_false(fleet->members[2].changed);
	assert_int_equal(fleet_active(fleet), 1);
	assert_fails(fleet_result(fleet, &err), ERROR_PARTIAL, "1 of 4 hosts failed");
	assert_has(err.text, "n3, n4 keep what they run");
	assert_lacks(err.text, "the others are done");
}

static void test_all_failed(void **state)
{
	static const char *const all[] = {"n1", "n2", NULL};
	struct fleet *fleet = make_fleet(*state, "hosts: [\"n[1-2]\"]\n");
	struct error err = {0};

	fleet_each(fleet, fail_some, (void *)(uintptr_t)all);
	assert_fails(fleet_result(fleet, &err), ERROR_FAILED, "n1, n2: no answer");
	assert_lacks(err.text, "others");
}

static int fail_by_name(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	return error_set(err, ERROR_FAILED, "%s: %s", m->host->name,
			 m->index % 2 ? "no answer" : "connection refused");
}

/* Hosts with one cause share a line; another cause has its own. */
static void test_causes(void **state)
{
	struct fleet *fleet = make_fleet(*state, "hosts: [\"n[1-5]\"]\n");
	struct error err = {0};

	fleet_each(fleet, fail_by_name, NULL);
	assert_fails(fleet_result(fleet, &err), ERROR_FAILED, "n1, n3, n5: connection refused");
	assert_has(err.text, "n2, n4: no answer");
}

static int fail_all(struct member *m, void *arg, struct error *err)
{
	(void)arg;
	return error_set(err, ERROR_FAILED, "%s: a reason", m->host->name);
}

/* A thousand failures still make a message that fits. */
static void test_many_failures(void **state)
{
	struct fleet *fleet = make_fleet(*state, "hosts: [\"n[0001-1000]\"]\n");
	struct error err = {0};

	fleet_each(fleet, fail_all, NULL);
	assert_int_equal(fleet_failures(fleet), 1000);
	assert_fails(fleet_result(fleet, &err), ERROR_FAILED, "n[0001-1000]: a reason");
}

static void test_init(void **state)
{
	struct scratch *s = *state;
	struct cluster cluster;
	struct fleet_options options = {.timeout_s = 3, .jobs = 7};
	struct fleet fleet;
	struct error err = {0};

	setenv("HOME", "/home/ops", 1);
	assert_fine(cluster_load(
		put(s, "cluster.yaml",
		    "name: lab\nhosts: [a, {address: 10.0.0.2, name: b, port: 2222, user: x}]\nssh: {key: keys/id}\ncontainer: {engine: docker}\n"),
		&s->arena, &cluster, &err));
	assert_fine(fleet_init(&cluster, &options, &s->arena, &fleet, &err));
	assert_int_equal(fleet.count, 2);
	assert_string_equal(fleet.container, "ringup-lab");
	assert_string_equal(fleet.members[1].target.name, "b");
	assert_string_equal(fleet.members[1].target.address, "10.0.0.2");
	assert_string_equal(fleet.members[1].target.user, "x");
	assert_int_equal(fleet.members[1].target.port, 2222);
	assert_int_equal(fleet.members[1].target.timeout_s, 3);
	assert_string_equal(fleet.members[0].target.keys[0], in(s, "keys/id"));
	assert_string_equal(fleet.members[0].target.known_hosts[0], "/home/ops/.ssh/known_hosts");
	assert_int_equal(fleet.jobs, 7);
	fleet_close(&fleet);
	cluster.container.engine = "dokcer";
	assert_fails(fleet_init(&cluster, &options, &s->arena, &fleet, &err), ERROR_USAGE,
		     "there is no engine 'dokcer'");
	assert_has(err.text, " docker");
}

/* The line that a dry run prints can be pasted, and it checks the host key. */
static void test_command_text(void **state)
{
	struct fleet *fleet = make_fleet(
		*state, "hosts: [{address: 10.0.0.2, port: 2222, user: x}]\nssh: {sudo: true}\n");
	_cleanup_(str_release) struct str line = STR_INIT;

	setenv("HOME", "/home/ops", 1);
	ssh_command_text(&fleet->members[0].target, WORDS("docker", "rm", "a b"), &line);
	assert_has(line.text, "ssh -p 2222 ");
	assert_has(line.text, "StrictHostKeyChecking=yes");
	assert_has(line.text, "x@10.0.0.2");
	assert_has(line.text, "'sudo -n docker rm '\\''a b'\\'''");
}

static void test_slots(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, "hosts: [a, {address: b, slots: 4}, c]\n");

	fleet->members[2].facts.gpus = "V100;V100;V100";
	assert_int_equal(member_slots(&fleet->members[0]), 1);
	assert_int_equal(member_slots(&fleet->members[1]), 4);
	assert_int_equal(member_slots(&fleet->members[2]), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_partial),    FLEET_TEST(test_failed_members_rest),
		FLEET_TEST(test_causes),     FLEET_TEST(test_waiting_members),
		FLEET_TEST(test_all_failed), FLEET_TEST(test_many_failures),
		FLEET_TEST(test_init),	     FLEET_TEST(test_command_text),
		FLEET_TEST(test_slots),
	};

	return cmocka_run_group_tests_name("fleet", tests, NULL, NULL);
}
