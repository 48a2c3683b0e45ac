/* SPDX-License-Identifier: MIT */
/* The reader of ~/.ssh/config: its own cases, and 200 random files against `ssh -G` of the real OpenSSH. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "deployer/ssh/ssh_config.h"

#include <pwd.h>
#include <unistd.h>

#define CONFIGS 200

static struct ssh_config read_config(struct scratch *s, const char *text, const char *host)
{
	struct ssh_config c;
	struct error err = {0};

	ssh_config_init(&c, &s->arena);
	assert_fine(ssh_config_read(&c, put(s, "config", text), host, "root", &err));
	ssh_config_finish(&c, host, "root");
	return c;
}

static void test_values(void **state)
{
	struct scratch *s = *state;
	struct ssh_config c = read_config(
		s,
		"# all of it\n"
		"Host other !node01\n  User never\n"
		"Host node* !node09\n"
		"  HostName=%h.example\n  user \"o p s\" # comment\n\tPort = 2222\n"
		"  IdentityFile ~/.ssh/%n-%r\n  IdentityFile /k/%h_%p\n  IdentitiesOnly yes\n"
		"  UserKnownHostsFile /a /b\n  HostKeyAlias=alias\n"
		"Match host *.example user \"o p s\"\n  IdentityFile /k/matched\n"
		"Match originalhost node02\n  IdentityFile /k/never\n"
		"Host *\n  User late\n  Port 1\n  ForwardAgent yes\n",
		"node01");
	const char *home = getenv("HOME");

	assert_string_equal(c.hostname, "node01.example");
	assert_string_equal(c.user, "o p s");
	assert_int_equal(c.port, 2222);
	assert_string_equal(words_join(&c.identity_files, ","),
			    arena_printf(&s->arena,
					 "%s/.ssh/node01-o p s,/k/node01.example_2222,/k/matched",
					 home));
	assert_string_equal(c.identities_only, "yes");
	assert_string_equal(words_join(&c.user_known_hosts, ","), "/a,/b");
	assert_string_equal(c.host_key_alias, "alias");
	assert_string_equal(c.beyond, "");
	c = read_config(s, "Host node* !node09\n User a\nHost *\n User late\n", "node09");
	assert_string_equal(c.user, "late");
}

/* What only the system's ssh can do is named with its line. */
static void test_beyond(void **state)
{
	static const struct {
		const char *text, *beyond; /* "": nothing is */
	} rows[] = {
		{"ProxyCommand nc %h %p\n", "proxycommand in "},
		{"Host x\nProxyCommand nc %h %p\n", ""},
		{"ProxyJump gate\n", "proxyjump in "},
		{"ProxyJump none\n", ""},
		{"Match exec \"true\"\n User a\n", "Match exec in "},
		{"Match host other exec \"true\"\n User a\n", ""},
		{"Match final\n User a\n", "Match final in "},
		{"Match canonical\n User a\n", ""},
		{"CanonicalizeHostname yes\n", "canonicalizehostname in "},
		{"CertificateFile ~/.ssh/c\n", "certificatefile in "},
		{"PKCS11Provider /x.so\n", "pkcs11provider in "},
		{"Ciphers aes256-ctr\n", "ciphers in "},
		{"GSSAPIAuthentication yes\nSendEnv LANG LC_*\nHashKnownHosts yes\n", ""},
		{"IdentityFile ~/.ssh/%C\n", "the path '~/.ssh/%C'"},
		{"OptionOfTomorrow 1\n", "optionoftomorrow in "},
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct ssh_config c = read_config(s, rows[i].text, "node01");

		if (*rows[i].beyond)
			assert_has(c.beyond, rows[i].beyond);
		else
			assert_string_equal(c.beyond, "");
	}
}

static void test_wrong(void **state)
{
	static const struct {
		const char *text, *part;
	} rows[] = {
		{"User\n", "config:1: there is no value for 'user'"},
		{"\nUser \"a\n", "config:2: a quote has no end"},
		{"Port 70000\n", "config:1: no port: '70000'"},
		{"Match\n", "config:1: Match needs a criterion"},
		{"Match user\n", "config:1: Match needs a value for 'user'"},
		{"=x\n", "config:1: no option stands before"},
	};
	struct scratch *s = *state;
	struct error err = {0};
	struct ssh_config c;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		ssh_config_init(&c, &s->arena);
		assert_fails(ssh_config_read(&c, put(s, "config", rows[i].text), "h", "root", &err),
			     ERROR_USAGE, rows[i].part);
	}
	put(s, "loop", arena_printf(&s->arena, "Include %s\n", in(s, "loop")));
	ssh_config_init(&c, &s->arena);
	assert_fails(ssh_config_read(&c, in(s, "loop"), "h", "root", &err), ERROR_USAGE,
		     "include each other");
	err = (struct error){0};
	assert_fine(ssh_config_read(&c, in(s, "missing"), "h", "root", &err));
}

/* --- against OpenSSH ------------------------------------------------------------------------ */

static const char *pick(unsigned int *seed, const char *const *words, size_t count)
{
	*seed = *seed * 1103515245 + 12345;
	return words[(*seed >> 16) % count];
}

#define PICK(...)                                      \
	pick(seed, (const char *const[]){__VA_ARGS__}, \
	     sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

static void add_option(struct scratch *s, unsigned int *seed, struct str *out)
{
	str_add(out, PICK("", "  ", "\t"));
	str_addf(out,
		 PICK("HostName%s%%h.example\n", "HostName%s10.0.0.1\n", "user%sops\n",
		      "User%s\"me\"\n", "PORT%s2222\n", "Port%s22 # c\n", "IdentityFile%s/k/a\n",
		      "IdentityFile%s/k/b\n", "IdentityFile%s\"/k/c d\"\n", "IdentitiesOnly%syes\n",
		      "IdentitiesOnly%sno\n", "UserKnownHostsFile%s/kh/1 /kh/2\n",
		      "UserKnownHostsFile%s/kh/3\n", "HostKeyAlias%salias\n", "ForwardAgent%syes\n",
		      "Include%sSCRATCH/inc1\n", "Include%sSCRATCH/inc*\n"),
		 PICK(" ", "=", " = ", "   "));
	(void)s;
}

static void add_section(unsigned int *seed, struct str *out)
{
	str_add(out,
		PICK("Host *\n", "Host node01\n", "Host node* !node01\n", "Host gpu* node0?\n",
		     "host=node01 other\n", "Host !node01 *\n", "Host \"node01\"\n", "Match all\n",
		     "Match host *.example\n", "Match originalhost node01\n", "Match user ops\n",
		     "Match !user ops host node01,x\n", "match host node*,!node01.example\n",
		     "Match host=node01\n", "Match localuser root\n", "Match canonical\n",
		     "Match !canonical\n", "Match user ops,me originalhost *\n"));
}

static const char *make_config(struct scratch *s, unsigned int *seed, const char *name)
{
	_cleanup_(str_release) struct str text = STR_INIT, out = STR_INIT;
	const char *at;

	for (int i = 0; i < 8; i++) {
		str_addf(&text, "%s", PICK("", "# x\n", "\n"));
		if (strcmp(PICK("a", "b", "c"), "a") == 0)
			add_section(seed, &text);
		else
			add_option(s, seed, &text);
	}
	for (at = text.text; *at;) { /* "SCRATCH" is the test's folder */
		if (starts_with(at, "SCRATCH")) {
			str_add(&out, in(s, "."));
			at += 7;
		} else {
			str_add_char(&out, *at++);
		}
	}
	return put(s, name, out.text);
}

/* The values of a line of `ssh -G`, with ' ' between those of several lines. */
static const char *theirs(struct scratch *s, const char *dump, const char *key)
{
	_cleanup_(str_release) struct str out = STR_INIT;
	size_t length = strlen(key);

	for (const char *line = dump; *line; line += strcspn(line, "\n"), line += *line == '\n')
		if (strncmp(line, key, length) == 0 && line[length] == ' ')
			str_addf(&out, "%s%.*s", out.length ? " " : "",
				 (int)strcspn(line + length + 1, "\n"), line + length + 1);
	return arena_strdup(&s->arena, out.text);
}

static void check_same(struct scratch *s, const char *path, const char *key, const char *ours,
		       const char *dump)
{
	const char *other = theirs(s, dump, key);

	if (strcmp(ours, other) != 0)
		fail_msg("%s: %s is \"%s\", and for ssh \"%s\"", path, key, ours, other);
}

static void check_config(struct scratch *s, const char *path, const char *me)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS("ssh", "-G", "-F", path, "node01")};
	struct error err = {0};
	struct ssh_config c;

	assert_fine(proc_run(&proc, &result, &err));
	assert_int_equal(result.status, 0);
	ssh_config_init(&c, &s->arena);
	assert_fine(ssh_config_read(&c, path, "node01", me, &err));
	ssh_config_finish(&c, "node01", me);
	assert_string_equal(c.beyond, "");
	check_same(s, path, "hostname", c.hostname, result.out.text);
	check_same(s, path, "user", *c.user ? c.user : me, result.out.text);
	check_same(s, path, "port", arena_printf(&s->arena, "%d", c.port ? c.port : 22),
		   result.out.text);
	if (c.identity_files.count)
		check_same(s, path, "identityfile", words_join(&c.identity_files, " "),
			   result.out.text);
	if (c.user_known_hosts.count)
		check_same(s, path, "userknownhostsfile", words_join(&c.user_known_hosts, " "),
			   result.out.text);
	check_same(s, path, "identitiesonly", *c.identities_only ? c.identities_only : "no",
		   result.out.text);
	check_same(s, path, "hostkeyalias", c.host_key_alias, result.out.text);
}

static void test_openssh(void **state)
{
	struct scratch *s = *state;
	const struct passwd *me = getpwuid(getuid());
	unsigned int seed = 1;

	assert_non_null(me);
	for (int i = 0; i < CONFIGS; i++) {
		put(s, "inc1", "User included\nHost other\nPort 7\nHost node*\nPort 8\n");
		put(s, "inc2", "IdentityFile /k/inc2\n");
		check_config(s, make_config(s, &seed, "config"), me->pw_name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_values),
		SCRATCH_TEST(test_beyond),
		SCRATCH_TEST(test_wrong),
		SCRATCH_TEST(test_openssh),
	};

	return cmocka_run_group_tests_name("ssh_config", tests, NULL, NULL);
}
