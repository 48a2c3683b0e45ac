/* SPDX-License-Identifier: MIT */
/* Which port the sshd of each container gets, from what ss says on its host. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/records/placed.h"
#include "deployer/bringup/ports.h"

#define AUTO "name: lab\nhosts: [10.0.0.1, 10.0.0.2]\ncontainer: {sshd_port: auto}\n"
#define FIXED "name: lab\nhosts: [10.0.0.1]\ncontainer: {sshd_port: 9435}\n"

/* The fleet after the check, where the first host said `listening`. */
static struct fleet *checked(struct scratch *s, const char *yaml, const char *listening,
			     const char *settings)
{
	struct fleet *fleet = make_fleet(s, yaml);

	fleet->members[0].state.listening = listening;
	fleet->members[0].state.running = *settings != '\0';
	fleet->members[0].state.settings = settings;
	fleet_check_ports(fleet);
	return fleet;
}

static int port_of(struct scratch *s, const char *listening)
{
	return checked(s, AUTO, listening, "")->members[0].sshd_port;
}

static void test_range(void **state)
{
	struct scratch *s = *state;
	struct arena *a = &s->arena;

	assert_string_equal(ports_range(make_fleet(s, FIXED)->cluster, a), "9435 9435");
	assert_string_equal(ports_range(make_fleet(s, AUTO)->cluster, a), "9435 9534");
	assert_string_equal(
		ports_range(make_fleet(s, "hosts: [a]\ncontainer: {sshd_port: none}\n")->cluster,
			    a),
		"0 0");
}

static void test_auto_takes_the_first_free_one(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet;

	assert_int_equal(port_of(s, ""), 9435);
	assert_int_equal(port_of(s, "9435 sshd/77"), 9436);
	assert_int_equal(port_of(s, "9436 -;9435 -;94370 x/1"), 9437);
	/* what a host may say, too */
	assert_int_equal(port_of(s, ";;9435;9435 "), 9436);
	assert_int_equal(port_of(s, "9435 \x1b[2J/\x1b;x"), 9436);
	fleet = checked(s, AUTO, "9435 a/1", "");
	assert_int_equal(fleet->members[0].sshd_port, 9436);
	assert_int_equal(fleet->members[1].sshd_port, 9435);
}

static void test_auto_with_every_port_taken(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str all = STR_INIT;
	struct fleet *fleet;

	for (int i = 0; i < CLUSTER_SSHD_PORTS; i++)
		str_addf(&all, "%d -;", CLUSTER_SSHD_PORT_FIRST + i);
	fleet = checked(s, AUTO, all.text, "");
	assert_true(fleet->members[0].failed);
	assert_has(fleet->members[0].err.text, "no port from 9435 to 9534 is free there");
	assert_false(fleet->members[1].failed);
}

/* The running container's own port, which it says with its label. */
static void test_the_cluster_keeps_its_port(void **state)
{
	struct scratch *s = *state;
	const char *settings = "shm_size=8g sshd=fd00::1:9440 env=-";

	assert_int_equal(checked(s, AUTO, "9440 sshd/9", settings)->members[0].sshd_port, 9440);
	assert_false(checked(s, FIXED, "9435 sshd/9", "sshd=10.0.0.1:9435")->members[0].failed);
	assert_true(checked(s, FIXED, "9435 sshd/9", "sshd=10.0.0.1:9436")->members[0].failed);
	assert_true(checked(s, FIXED, "9435 sshd/9", "sshd=none")->members[0].failed);
}

static void test_fixed_and_taken(void **state)
{
	struct scratch *s = *state;
	struct member *m = &checked(s, FIXED, "9435 nginx/77", "")->members[0];

	assert_true(m->failed);
	assert_has(m->err.text,
		   "port 9435 on 10.0.0.1, which the container's sshd is to have, is taken by "
		   "nginx (process 77)");
	assert_has(m->err.text, "or to auto");
	assert_has(checked(s, FIXED, "9435 -", "")->members[0].err.text,
		   "taken by another program");
	assert_false(checked(s, FIXED, "9436 nginx/77", "")->members[0].failed);
	assert_false(checked(s, "hosts: [a]\ncontainer: {sshd_port: none}\n", "9435 x/1", "")
			     ->members[0]
			     .failed);
	assert_false(checked(s, "hosts: [a]\ncontainer: {engine: none}\n", "9435 x/1", "")
			     ->members[0]
			     .failed);
}

/* .ringup/hosts.json has the ports of all hosts, also of those that this command does not ask. */
static void test_kept(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = checked(s, AUTO, "9435 a/1", "");
	struct error err = {0};

	put(s, ".ringup/lock", "");
	assert_fine(placed_add(fleet, &err));
	fleet = make_fleet(s, AUTO);
	assert_int_equal(fleet->members[0].sshd_port, 9436);
	assert_int_equal(fleet->members[1].sshd_port, 9435);
	/* it is free again, and the host stays with the one that it has */
	fleet_check_ports(fleet);
	assert_int_equal(fleet->members[0].sshd_port, 9436);
	/* a number in the file goes before, and is not noted */
	fleet = make_fleet(s, "name: lab\nhosts: [10.0.0.1]\ncontainer: {sshd_port: 9500}\n");
	assert_int_equal(fleet->members[0].sshd_port, 9500);
	assert_fine(placed_add(fleet, &err));
	assert_int_equal(make_fleet(s, AUTO)->members[0].sshd_port, 0);
	put(s, ".ringup/hosts.json",
	    "{\"hosts\": [1, {\"address\": \"10.0.0.1\", \"port\": 22, \"sshd_port\": 70000}]}");
	assert_int_equal(make_fleet(s, AUTO)->members[0].sshd_port, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_range),
		FLEET_TEST(test_auto_takes_the_first_free_one),
		FLEET_TEST(test_auto_with_every_port_taken),
		FLEET_TEST(test_the_cluster_keeps_its_port),
		FLEET_TEST(test_fixed_and_taken),
		FLEET_TEST(test_kept),
	};

	return cmocka_run_group_tests_name("ports", tests, NULL, NULL);
}
