/* SPDX-License-Identifier: MIT */
/* What each launcher runs, for 1, 2 and 3 hosts with different numbers of slots. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/launcher/launcher.h"

#define ONE "name: lab\nhosts: [a]\ncontainer: {engine: docker}\n"
#define TWO                                                                                   \
	"name: lab\nhosts: [a, {address: 10.0.0.2, name: b, slots: 2}]\ncontainer: {engine: " \
	"docker}\n"
#define THREE                                                                                      \
	"name: lab\nhosts: [{address: 10.0.0.1, name: a, slots: 4}, {address: 10.0.0.2, name: b, " \
	"slots: 1}, {address: 10.0.0.3, name: c, slots: 3}]\ncontainer: {engine: docker}\n"
#define BARE "name: lab\nhosts: [a]\ncontainer: {engine: none}\n"

static const struct {
	const char *launcher, *yaml;
	size_t member;
	const char *line; /* NULL: nothing is run there */
} cases[] = {
	{"ssh", ONE, 0,
	 "with-secret allreduce --rank 0 --procs 1 --world 1 --root 10.0.0.1:7000 --bind a --host a -b 1K"},
	{"ssh", TWO, 0,
	 "with-secret allreduce --rank 0 --procs 1 --world 3 --root 10.0.0.1:7000 --bind a --host a -b 1K"},
	{"ssh", TWO, 1,
	 "with-secret allreduce --rank 1 --procs 2 --world 3 --root 10.0.0.1:7000 --bind 10.0.0.2 --host b -b 1K"},
	{"ssh", THREE, 2,
	 "with-secret allreduce --rank 5 --procs 3 --world 8 --root 10.0.0.1:7000 --bind 10.0.0.3 --host c -b 1K"},
	{"ssh", BARE, 0,
	 "env RINGUP_SECRET_FILE=/var/lib/ringup/lab/ssh/secret /var/lib/ringup/lab/bin/with-secret /var/lib/ringup/lab/bin/allreduce --rank 0 --procs 1 --world 1 --root 10.0.0.1:7000 --bind a --host a -b 1K"},
	{"mpirun", ONE, 0,
	 "with-secret mpirun --allow-run-as-root --np 1 --host a:1 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x RINGUP_SECRET allreduce --root 10.0.0.1:7000 -b 1K"},
	{"mpirun", TWO, 0,
	 "with-secret mpirun --allow-run-as-root --np 3 --host a:1,10.0.0.2:2 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x RINGUP_SECRET allreduce --root 10.0.0.1:7000 -b 1K"},
	{"mpirun", TWO, 1, NULL},
	{"mpirun", THREE, 0,
	 "with-secret mpirun --allow-run-as-root --np 8 --host 10.0.0.1:4,10.0.0.2:1,10.0.0.3:3 --map-by slot --bind-to none --mca btl_tcp_if_include 10.0.0.0/24 --mca oob_tcp_if_include 10.0.0.0/24 -x RINGUP_SECRET allreduce --root 10.0.0.1:7000 -b 1K"},
	{"mpirun", THREE, 2, NULL},
};

static const char *launched(struct scratch *s, const char *launcher, const char *yaml, size_t index)
{
	struct fleet *fleet = make_fleet(s, yaml);
	const struct launcher *l = launcher_find(launcher);
	struct launch launch = {
		.arguments = WORDS("-b", "1K"), .root_address = "10.0.0.1", .root_port = 7000};
	const char *const *words;
	int *first;

	assert_non_null(l);
	first = ARENA_ARRAY(&s->arena, fleet->count, int);
	for (size_t i = 0; i < fleet->count; i++) {
		fleet->members[i].facts.interface_cidr = "10.0.0.0/24";
		first[i] = launch.world;
		launch.world += member_slots(&fleet->members[i]);
	}
	launch.fleet = fleet;
	launch.first_ranks = first;
	words = l->words(&fleet->members[index], &launch);
	return words ? line_of(s, words) : NULL;
}

static void test_words(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *line =
			launched(*state, cases[i].launcher, cases[i].yaml, cases[i].member);

		if (!cases[i].line)
			assert_null(line);
		else
			assert_string_equal(line, cases[i].line);
	}
}

/* The secret goes by name or by file, never as a value on a command line. */
static void test_no_secret_in_words(void **state)
{
	for (size_t i = 0; launchers[i]; i++) {
		const char *line = launched(*state, launchers[i]->name, THREE, 0);

		assert_non_null(line);
		assert_lacks(line, "RINGUP_SECRET=");
	}
}

static void test_find(void **state)
{
	(void)state;
	for (size_t i = 0; launchers[i]; i++)
		assert_ptr_equal(launcher_find(launchers[i]->name), launchers[i]);
	assert_null(launcher_find("shs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_words),
		FLEET_TEST(test_no_secret_in_words),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests_name("launcher", tests, NULL, NULL);
}
