/* SPDX-License-Identifier: MIT */
/*
 * What a failed login between workers means: the last lines of ssh, OpenSSH 8.4 to 10.0, as they were seen in the lab and
 * as users reported them.
 */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/bringup/mesh.h"

#define YAML "name: lab\nhosts: [node01, {address: 10.0.0.2, name: node02}, node03]\n"

/* The error of node01, to which mesh.sh said this there. */
static const char *explained(struct scratch *s, const char *said)
{
	struct member *m = &make_fleet(s, YAML)->members[0];
	struct error err = {0};

	assert_int_equal(mesh_explain(m, said, &err), -1);
	return arena_strdup(&s->arena, err.text);
}

static void test_reasons(void **state)
{
	static const struct {
		const char *said, *means;
	} cases[] = {
		{"ssh: connect to host 10.0.0.2 port 9435: Connection refused",
		 "node01 -> node02: connection refused on port 9435: no sshd listens there"},
		{"ssh: connect to host 10.0.0.2 port 9435: Connection timed out",
		 "node01 -> node02: no answer on port 9435: a firewall drops it"},
		{"Connection timed out during banner exchange",
		 "node01 -> node02: no answer on port 9435"},
		{"ssh: connect to host 10.0.0.2 port 9435: No route to host",
		 "node01 -> node02: no route to it, or a firewall that rejects port 9435"},
		{"ssh: connect to host 10.0.0.2 port 9435: Network is unreachable",
		 "node01 -> node02: there is no route to it"},
		{"Host key verification failed.",
		 "node01 -> node02: another host key answers on port 9435"},
		{"root@10.0.0.2: Permission denied (publickey).",
		 "node01 -> node02: the cluster's key is refused on port 9435"},
		{"kex_exchange_identification: Connection closed by remote host",
		 "node01 -> node02: what listens on port 9435 ends the connection"},
		{"ssh: Could not resolve hostname node02: Name or service not known",
		 "node01 -> node02: its name is not known there"},
		{"Bad owner or permissions on /etc/ssh/ssh_config.d/x",
		 "node01 -> node02: Bad owner or permissions on /etc/ssh/ssh_config.d/x"},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_has(explained(s, arena_printf(&s->arena, "node02: %s\n", cases[i].said)),
			   cases[i].means);
}

static void test_several(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str many = STR_INIT;
	const char *text = explained(s, "node02: Connection refused\nnode03: timed out\n"
					"ringup-hosts: the image has no awk\n");

	assert_has(text,
		   "node01 -> node02: connection refused on port 9435: no sshd listens there; "
		   "node01 -> node03: no answer");
	assert_has(text, "; ringup-hosts: the image has no awk");
	for (int i = 0; i < 9; i++)
		str_add(&many, "node02: Connection refused\n");
	assert_has(explained(s, many.text), "; and 5 more from node01");
	assert_has(explained(s, ""), "failed without a word");
	assert_lacks(explained(s, "node02: \x1b[2Jno\n\x1b]0;x\x07: y\n"), "\x1b");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_reasons),
		FLEET_TEST(test_several),
	};

	return cmocka_run_group_tests_name("mesh", tests, NULL, NULL);
}
