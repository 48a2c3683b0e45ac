/* SPDX-License-Identifier: MIT */
/* OpenSSH's known_hosts: every form that sshd(8) describes, hashed ones made by ssh-keygen. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "core/str.h"
#include "deployer/ssh/keys/known_hosts.h"

#define TYPE "ssh-ed25519"
#define KEY "AAAAC3NzaC1lZDI1NTE5AAAAIJrQ8kkOZxgbhRP0VzXGzhV3PHJ2nXgTEcDAfLbYbCsA"
#define OTHER "AAAAC3NzaC1lZDI1NTE5AAAAIBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"

static enum known_hosts_answer ask(struct scratch *s, const char *address, int port, int *line)
{
	const struct known_host_key *where = NULL;
	enum known_hosts_answer answer;
	struct known_hosts known;
	struct error err = {0};

	assert_fine(known_hosts_load(WORDS(in(s, "known_hosts")),
				     known_hosts_name(address, port, &s->arena), &s->arena, &known,
				     &err));
	answer = known_hosts_check(&known, TYPE, KEY, &where);
	*line = where ? where->line : 0;
	return answer;
}

static const struct {
	const char *file, *address;
	int port;
	enum known_hosts_answer answer;
	int line; /* for CHANGED and REVOKED */
} cases[] = {
	{"", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"h " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h " TYPE " " KEY, "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h " TYPE " " KEY " a comment with words\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h " TYPE " " KEY "\r\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h\t" TYPE "\t" KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h  " TYPE "   " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"  h " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h " TYPE " " OTHER "\n", "h", 22, KNOWN_HOSTS_CHANGED, 1},
	{"# h\n\nh " TYPE " " OTHER "\n", "h", 22, KNOWN_HOSTS_CHANGED, 3},
	{"h " TYPE " " OTHER "\nh " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"h " TYPE " " KEY "\nh " TYPE " " OTHER "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"# h " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"h2 " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"x,h,y " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"H " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	/* another port is another name */
	{"h " TYPE " " KEY "\n", "h", 2222, KNOWN_HOSTS_UNKNOWN, 0},
	{"[h]:2222 " TYPE " " KEY "\n", "h", 2222, KNOWN_HOSTS_MATCH, 0},
	{"[h]:2222 " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"[h]:2222 " TYPE " " KEY "\n", "h", 222, KNOWN_HOSTS_UNKNOWN, 0},
	{"[10.0.0.1]:9435 " TYPE " " KEY "\n", "10.0.0.1", 9435, KNOWN_HOSTS_MATCH, 0},
	{"[10.0.0.1]:9435 " TYPE " " KEY "\n", "1", 9435, KNOWN_HOSTS_UNKNOWN, 0},
	{"[fe80::1]:9435 " TYPE " " KEY "\n", "fe80::1", 9435, KNOWN_HOSTS_MATCH, 0},
	/* patterns */
	{"* " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"10.0.0.* " TYPE " " KEY "\n", "10.0.0.7", 22, KNOWN_HOSTS_MATCH, 0},
	{"10.0.0.* " TYPE " " KEY "\n", "10.0.1.7", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"node0? " TYPE " " KEY "\n", "node01", 22, KNOWN_HOSTS_MATCH, 0},
	{"node0? " TYPE " " KEY "\n", "node011", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"[*.lan]:2222 " TYPE " " KEY "\n", "a.lan", 2222, KNOWN_HOSTS_MATCH, 0},
	{"node[0-9] " TYPE " " KEY "\n", "node1", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"*,!h " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"!h,* " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"*,!h " TYPE " " KEY "\n", "h2", 22, KNOWN_HOSTS_MATCH, 0},
	{"!x " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	/* marks */
	{"@revoked * " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_REVOKED, 1},
	{"h " TYPE " " KEY "\n@revoked h " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_REVOKED, 2},
	{"@revoked h " TYPE " " KEY "\nh " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_REVOKED, 1},
	{"@revoked h " TYPE " " OTHER "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"@revoked h " TYPE " " OTHER "\nh " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"@revoked x " TYPE " " KEY "\nh " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_MATCH, 0},
	{"@cert-authority * " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"@unknown h " TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	/* lines that are no lines */
	{"h\nh " TYPE "\n\n@revoked\n@revoked h\n \nh " TYPE " " KEY "\n", "h", 22,
	 KNOWN_HOSTS_MATCH, 0},
	{"|1|\n|1|x|y " TYPE " " KEY "\n|1|" TYPE " " KEY "\n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
	{"h " TYPE " \n", "h", 22, KNOWN_HOSTS_UNKNOWN, 0},
};

static void test_cases(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int line = 0, got;

		put(s, "known_hosts", cases[i].file);
		got = ask(s, cases[i].address, cases[i].port, &line);
		if (got != (int)cases[i].answer)
			fail_msg("%s port %d in: %sgot %d, wanted %d", cases[i].address,
				 cases[i].port, cases[i].file, got, cases[i].answer);
		if (cases[i].line)
			assert_int_equal(line, cases[i].line);
	}
}

static void test_another_type_is_no_match(void **state)
{
	struct scratch *s = *state;
	struct known_hosts known;
	const struct known_host_key *where;
	struct error err = {0};

	put(s, "known_hosts", "h ssh-rsa " KEY "\n");
	assert_fine(known_hosts_load(WORDS(in(s, "known_hosts")), "h", &s->arena, &known, &err));
	assert_int_equal(known.count, 1);
	assert_string_equal(known.keys[0].type, "ssh-rsa");
	assert_int_not_equal(known_hosts_check(&known, TYPE, KEY, &where), KNOWN_HOSTS_MATCH);
}

/* ssh reads the files of UserKnownHostsFile and GlobalKnownHostsFile one after the other. */
static void test_several_files(void **state)
{
	struct scratch *s = *state;
	const char *const *paths = WORDS(put(s, "a", "@cert-authority *.lan " TYPE " " OTHER "\n"),
					 in(s, "missing"), put(s, "b", "\nh " TYPE " " OTHER "\n"));
	const struct known_host_key *where = NULL;
	struct known_hosts known;
	struct error err = {0};

	assert_fine(known_hosts_load(paths, "h", &s->arena, &known, &err));
	assert_string_equal(known.path, in(s, "a"));
	assert_int_equal(known_hosts_check(&known, TYPE, KEY, &where), KNOWN_HOSTS_CHANGED);
	assert_string_equal(where->path, in(s, "b"));
	assert_int_equal(where->line, 2);
	assert_false(known.has_authority);
	assert_fine(known_hosts_load(paths, "h.lan", &s->arena, &known, &err));
	assert_true(known.has_authority && !known.count);
}

static void test_missing_file(void **state)
{
	struct scratch *s = *state;
	int line = 0;

	assert_int_equal(ask(s, "h", 22, &line), KNOWN_HOSTS_UNKNOWN);
}

/* Hashed as `ssh-keygen -H` and ssh's HashKnownHosts write it. */
static void test_hashed(void **state)
{
	struct scratch *s = *state;
	const char *path = put(s, "known_hosts",
			       "10.0.0.1 " TYPE " " KEY "\n[10.0.0.2]:9435 " TYPE " " KEY "\n"
			       "node07 " TYPE " " KEY "\n");
	struct error err = {0};
	int line = 0;

	assert_fine(proc_check(WORDS("ssh-keygen", "-q", "-H", "-f", path), &err));
	assert_lacks(slurp(s, path), "10.0.0.1");
	assert_has(slurp(s, path), "|1|");
	assert_int_equal(ask(s, "10.0.0.1", 22, &line), KNOWN_HOSTS_MATCH);
	assert_int_equal(ask(s, "10.0.0.1", 9435, &line), KNOWN_HOSTS_UNKNOWN);
	assert_int_equal(ask(s, "10.0.0.2", 9435, &line), KNOWN_HOSTS_MATCH);
	assert_int_equal(ask(s, "10.0.0.2", 22, &line), KNOWN_HOSTS_UNKNOWN);
	assert_int_equal(ask(s, "10.0.0.3", 22, &line), KNOWN_HOSTS_UNKNOWN);
	/* ssh lower-cases names before it hashes or compares them (sshconnect.c, ssh_login) */
	assert_int_equal(ask(s, "Node07", 22, &line), KNOWN_HOSTS_MATCH);
}

static void test_hashed_changed(void **state)
{
	struct scratch *s = *state;
	const char *path = put(s, "known_hosts", "# first\n10.0.0.1 " TYPE " " OTHER "\n");
	struct error err = {0};
	int line = 0;

	assert_fine(proc_check(WORDS("ssh-keygen", "-q", "-H", "-f", path), &err));
	assert_int_equal(ask(s, "10.0.0.1", 22, &line), KNOWN_HOSTS_CHANGED);
	assert_int_equal(line, 2);
}

static void test_name(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(known_hosts_name("a", 22, &s->arena), "a");
	assert_string_equal(known_hosts_name("a", 2222, &s->arena), "[a]:2222");
	assert_string_equal(known_hosts_name("::1", 9435, &s->arena), "[::1]:9435");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_cases),	  SCRATCH_TEST(test_another_type_is_no_match),
		SCRATCH_TEST(test_several_files), SCRATCH_TEST(test_missing_file),
		SCRATCH_TEST(test_hashed),	  SCRATCH_TEST(test_hashed_changed),
		SCRATCH_TEST(test_name),
	};

	return cmocka_run_group_tests_name("known_hosts", tests, NULL, NULL);
}
