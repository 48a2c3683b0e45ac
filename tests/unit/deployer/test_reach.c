/* SPDX-License-Identifier: MIT */
/* How a host is reached: cluster.yaml before ~/.ssh/config before defaults; jump hosts; what is printed of it. */
#include "tests/unit/support.h"

#include "core/str.h"
#include "core/words.h"
#include "deployer/ssh/reach.h"
#include "deployer/ssh/ssh_transport.h"

/* The target of one host of a cluster file. `config` is ~/.ssh/config. */
static struct ssh_target *reach(struct scratch *s, const char *config, const char *yaml,
				const char *name)
{
	struct ssh_target *target = ARENA_NEW(&s->arena, struct ssh_target);
	struct cluster *cluster = ARENA_NEW(&s->arena, struct cluster);
	struct error err = {0};

	setenv("HOME", s->folder, 1);
	setenv("SSH_AUTH_SOCK", "/agent", 1);
	mkdir(in(s, ".ssh"), 0700);
	put(s, ".ssh/config", config);
	assert_fine(cluster_load(put(s, "cluster.yaml", yaml), &s->arena, cluster, &err));
	assert_fine(reach_host(cluster, cluster_host(cluster, name), 0, &s->arena, target, &err));
	return target;
}

static void test_defaults(void **state)
{
	struct scratch *s = *state;
	struct ssh_target *t = reach(s, "", "hosts: [n1]\n", "n1");

	assert_string_equal(t->host, "n1");
	assert_string_equal(t->address, "n1");
	assert_string_equal(t->user, "root");
	assert_int_equal(t->port, 22);
	assert_string_equal(t->keys[0], in(s, ".ssh/id_ed25519"));
	assert_null(t->keys[1]);
	assert_string_equal(t->known_hosts[0], in(s, ".ssh/known_hosts"));
	assert_string_equal(t->known_hosts_all[1], "/etc/ssh/ssh_known_hosts");
	assert_string_equal(t->agent, "/agent");
	assert_null(t->via);
	assert_false(t->direct);
	assert_int_equal(t->timeout_s, 15);
	/* the other usual keys, where they are there */
	put(s, ".ssh/id_rsa", "");
	t = reach(s, "", "hosts: [n1]\n", "n1");
	assert_string_equal(t->keys[1], in(s, ".ssh/id_rsa"));
}

static void test_config(void **state)
{
	static const char config[] = "Host n*\n User ops\n Port 2222\n HostName %h.lan\n"
				     " IdentityFile ~/k1\n IdentityFile ~/k2\n IdentitiesOnly yes\n"
				     " IdentityAgent none\n HostKeyAlias alias\n"
				     " UserKnownHostsFile ~/known\n";
	struct scratch *s = *state;
	struct ssh_target *t = reach(s, config, "hosts: [n1]\n", "n1");

	assert_string_equal(t->host, "n1");
	assert_string_equal(t->address, "n1.lan");
	assert_string_equal(t->user, "ops");
	assert_int_equal(t->port, 2222);
	assert_string_equal(t->keys[0], in(s, "k1"));
	assert_string_equal(t->keys[1], in(s, "k2"));
	assert_string_equal(t->known_hosts[0], in(s, "known"));
	assert_string_equal(t->host_key_alias, "alias");
	assert_string_equal(t->agent, "");
	assert_true(t->identities_only);
	/* what cluster.yaml says wins, of the host before of all */
	t = reach(
		s, config,
		"hosts: [{hosts: \"n[1-2]\", user: x, port: 22, key: own}]\nssh: {user: y, key: k, known_hosts: kh}\n",
		"n2");
	assert_string_equal(t->user, "x");
	assert_int_equal(t->port, 22);
	assert_string_equal(t->keys[0], in(s, "own"));
	assert_null(t->keys[1]);
	assert_string_equal(t->known_hosts[0], in(s, "kh"));
	/* and the file may not count at all */
	t = reach(s, config, "hosts: [n1]\nssh: {config: none}\n", "n1");
	assert_string_equal(t->user, "root");
	assert_string_equal(t->address, "n1");
	assert_string_equal(t->config, "none");
}

static void test_beyond(void **state)
{
	static const char config[] = "Host n*\n ProxyJump gate\n";
	struct scratch *s = *state;

	assert_has(reach(s, config, "hosts: [n1]\n", "n1")->beyond, "proxyjump in ");
	/* cluster.yaml says another way */
	assert_string_equal(reach(s, config, "hosts: [n1]\nssh: {jump: other}\n", "n1")->beyond,
			    "");
	assert_true(reach(s, config, "hosts: [{address: n1, jump: none}]\n", "n1")->direct);
}

static void test_jump(void **state)
{
	static const char yaml[] =
		"hosts: [{address: 10.0.0.1, name: gate, user: g, port: 2222, key: gk}, n1, {address: n2, jump: none}]\n"
		"ssh: {key: k, jump: \"u@first:7,gate\"}\n";
	struct scratch *s = *state;
	struct ssh_target *t = reach(s, "", yaml, "n1");

	assert_string_equal(t->jump, "u@first:7,g@10.0.0.1:2222");
	assert_string_equal(t->via->host, "10.0.0.1");
	assert_string_equal(t->via->keys[0], in(s, "gk"));
	assert_string_equal(t->via->via->user, "u");
	assert_int_equal(t->via->via->port, 7);
	assert_string_equal(t->via->via->keys[0], in(s, "k"));
	assert_null(t->via->via->via);
	/* a member that is a jump host is reached by those before it, and another may need none */
	t = reach(s, "", yaml, "gate");
	assert_string_equal(t->jump, "u@first:7");
	assert_null(reach(s, "", yaml, "n2")->via);
}

/* Hosts that jump by each other: ssh would start a program for each step, without an end. */
static void test_jump_loop(void **state)
{
	struct scratch *s = *state;
	struct ssh_target target;
	struct cluster cluster;
	struct error err = {0};

	/* a way that ends */
	assert_string_equal(reach(s, "Host n1\n ProxyJump u@gate:7\nHost gate\n ProxyJump first\n",
				  "hosts: [n1]\n", "n1")
				    ->proxy_jump,
			    "u@gate:7");
	put(s, ".ssh/config", "Host n1\n ProxyJump u@n2:7\nHost n2\n ProxyJump ssh://n1\n");
	assert_fine(
		cluster_load(put(s, "cluster.yaml", "hosts: [n1]\n"), &s->arena, &cluster, &err));
	assert_int_equal(
		reach_host(&cluster, cluster_host(&cluster, "n1"), 0, &s->arena, &target, &err),
		-1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_has(err.text, "n1 > n2 > n1");
	/* `jump` of the cluster file is another way */
	assert_true(
		reach(s, "Host n1\n ProxyJump n1\n", "hosts: [{address: n1, jump: none}]\n", "n1")
			->direct);
}

static void test_words(void **state)
{
	struct scratch *s = *state;
	struct words words = WORDS_INIT(&s->arena);
	_cleanup_(str_release) struct str line = STR_INIT;
	const struct ssh_target *t =
		reach(s, "", "hosts: [n1]\nssh: {key: \"a %k\", jump: \"u@gate\"}\n", "n1");
	const char *all;

	ssh_openssh_add_way(t, &words);
	all = words_join(&words, "\n");
	assert_has(all, "-oIdentityFile=\"");
	assert_has(all, "/a %%k\"\n");
	/* the jump host has the same key; its '%' goes through two programs */
	assert_has(all, "-oProxyCommand=ssh ");
	assert_has(all, "/a %%%%k\"");
	assert_has(all, "-l u -oBatchMode=yes");
	assert_has(all, "-W '[%h]:%p' gate");
	ssh_command_place(t, &line);
	assert_has(line.text, " -i ");
	assert_has(line.text, "ProxyCommand=ssh ");
	/* where nothing but the name of the jump host is needed, a person reads -J */
	str_clear(&line);
	ssh_command_place(reach(s, "", "hosts: [n1]\nssh: {jump: \"u@gate\"}\n", "n1"), &line);
	assert_has(line.text, " -J u@gate:22 root@n1 ");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_defaults),  SCRATCH_TEST(test_config),
		SCRATCH_TEST(test_beyond),    SCRATCH_TEST(test_jump),
		SCRATCH_TEST(test_jump_loop), SCRATCH_TEST(test_words),
	};

	return cmocka_run_group_tests_name("reach", tests, NULL, NULL);
}
