/* SPDX-License-Identifier: MIT */
/* .ringup/hosts.json: hosts that were taken out of cluster.yaml are still known. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/records/placed.h"

#define THREE "name: lab\nhosts: [a, {address: 10.0.0.2, name: b, user: bob, port: 2222}, c]\n"

/* "b@10.0.0.2 c@c": the departed. */
static const char *departed(struct scratch *s, const char *yaml)
{
	struct fleet *fleet = make_fleet(s, yaml);
	_cleanup_(str_release) struct str line = STR_INIT;
	struct error err = {0};
	struct host *hosts;
	size_t count;

	assert_fine(placed_departed(fleet->cluster, &s->arena, &hosts, &count, &err));
	for (size_t i = 0; i < count; i++)
		str_addf(&line, "%s%s=%s@%s:%d", i ? " " : "", hosts[i].name, hosts[i].user,
			 hosts[i].address, hosts[i].port);
	return arena_strdup(&s->arena, line.text);
}

static void test_departed(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, THREE);
	struct error err = {0};

	put(s, ".ringup/lock", "");
	assert_string_equal(departed(s, "hosts: [z]\n"), "");
	fleet->members[2].failed = true;
	assert_fine(placed_add(fleet, &err));
	assert_string_equal(departed(s, THREE), "");
	/* nothing was put on c, which had failed */
	assert_string_equal(departed(s, "hosts: [a]\n"), "b=bob@10.0.0.2:2222");
	/* another name for the same machine is no other host; another address is one */
	assert_string_equal(departed(s, "hosts: [a, {address: 10.0.0.2, name: x, port: 2222}]\n"),
			    "");
	assert_string_equal(departed(s, "hosts: [a, {address: 10.0.0.3, name: b, port: 2222}]\n"),
			    "b=bob@10.0.0.2:2222");
	/* one that fails to be purged stays known */
	fleet = make_fleet(s, THREE);
	fleet->members[0].failed = true;
	assert_fine(placed_remove(fleet, &err));
	assert_string_equal(departed(s, "hosts: [z]\n"), "a=root@a:22");
}

static void test_damaged(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, "hosts: [a]\n");
	struct error err = {0};
	struct host *hosts;
	size_t count;

	put(s, ".ringup/hosts.json",
	    "{\"schema\": 1, \"hosts\": [{\"name\": \"x\"}, 7, {\"name\": "
	    "\"-o\", \"address\": \"y z\", \"user\": \"u\", \"port\": 22}]}");
	assert_string_equal(departed(s, "hosts: [a]\n"), "");
	put(s, ".ringup/hosts.json", "{");
	assert_fails(placed_departed(fleet->cluster, &s->arena, &hosts, &count, &err), ERROR_FAILED,
		     "hosts.json");
	assert_has(err.text, "remove it");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_departed),
		FLEET_TEST(test_damaged),
	};

	return cmocka_run_group_tests_name("placed", tests, NULL, NULL);
}
