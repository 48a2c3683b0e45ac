/* SPDX-License-Identifier: MIT */
/* The cluster's own SSH identity, checked with the real ssh, sshd and ssh-keygen. */
#include "tests/unit/deployer/fleet_support.h"

#include "core/proc.h"
#include "deployer/bringup/keys.h"
#include "deployer/container/parcel.h"

#include <sys/stat.h>

#define YAML                                                                                       \
	"name: lab\nhosts: [node01, {address: 10.0.0.2, name: two}, {address: \"fd00::3\", name: " \
	"three}]\ncontainer: {engine: docker, sshd_port: 9435}\n"

struct meshed {
	struct fleet *fleet;
	struct keys keys;
	struct key_file files[KEY_FILES_MAX];
};

static struct meshed *mesh(struct scratch *s, const char *yaml, size_t member)
{
	struct meshed *m = ARENA_NEW(&s->arena, struct meshed);
	struct error err = {0};

	m->fleet = make_fleet(s, yaml);
	assert_fine(keys_load(m->fleet, &s->arena, &m->keys, &err));
	keys_files(m->fleet, &m->keys, &m->fleet->members[member], &s->arena, m->files);
	return m;
}

static const struct key_file *file_of(const struct meshed *m, const char *name)
{
	for (const struct key_file *f = m->files; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	fail_msg("there is no file %s", name);
	return NULL;
}

static const char *text_of(const struct meshed *m, const char *name)
{
	const struct key_file *f = file_of(m, name);

	return f->text ? f->text : secret_reveal(f->secret);
}

/* The file on disk, with its mode. */
static const char *on_disk(struct scratch *s, const struct meshed *m, const char *name)
{
	const struct key_file *f = file_of(m, name);
	struct error err = {0};

	assert_fine(
		file_write(in(s, name), text_of(m, name), strlen(text_of(m, name)), f->mode, &err));
	return in(s, name);
}

static void test_made_once(void **state)
{
	struct scratch *s = *state;
	struct meshed *first = mesh(s, YAML, 0), *again = mesh(s, YAML, 0);
	struct stat st;

	assert_string_equal(secret_reveal(first->keys.private_key),
			    secret_reveal(again->keys.private_key));
	assert_string_equal(first->keys.public_key, again->keys.public_key);
	assert_string_equal(secret_reveal(first->keys.secret), secret_reveal(again->keys.secret));
	assert_string_equal(secret_reveal(first->keys.members[2].host_key),
			    secret_reveal(again->keys.members[2].host_key));
	assert_string_not_equal(first->keys.members[0].host_public,
				first->keys.members[1].host_public);
	assert_int_equal(strlen(secret_reveal(first->keys.secret)), 64);
	assert_int_equal(stat(in(s, ".ringup/keys"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(in(s, ".ringup/keys/id_ed25519"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(in(s, ".ringup/keys/secret"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

/* Keys that others could read are closed to them; keys behind a link are not taken. */
static void test_open_files_are_closed(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 0);
	static const char *const names[] = {"", "/id_ed25519", "/host-node01", "/secret"};
	struct error err = {0};
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(
			chmod(in(s, arena_printf(&s->arena, ".ringup/keys%s", names[i])), 0755), 0);
	assert_fine(keys_load(m->fleet, &s->arena, &m->keys, &err));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		assert_int_equal(
			stat(in(s, arena_printf(&s->arena, ".ringup/keys%s", names[i])), &st), 0);
		assert_int_equal(st.st_mode & 0077, 0);
	}
	assert_int_equal(rename(in(s, ".ringup/keys/secret"), in(s, "elsewhere")), 0);
	assert_int_equal(symlink(in(s, "elsewhere"), in(s, ".ringup/keys/secret")), 0);
	assert_fails(keys_load(m->fleet, &s->arena, &m->keys, &err), ERROR_FAILED, "symbolic link");
}

/* Another host in the file leaves the other hosts' keys alone. */
static void test_a_host_more(void **state)
{
	struct scratch *s = *state;
	struct meshed *one = mesh(s, "name: lab\nhosts: [b]\n", 0);
	struct meshed *two = mesh(s, "name: lab\nhosts: [a, b]\n", 0);

	assert_string_equal(secret_reveal(one->keys.members[0].host_key),
			    secret_reveal(two->keys.members[1].host_key));
	assert_string_equal(secret_reveal(one->keys.private_key),
			    secret_reveal(two->keys.private_key));
}

static void test_files(void **state)
{
	struct meshed *m = mesh(*state, YAML, 1);

	assert_string_equal(text_of(m, "id_ed25519"), secret_reveal(m->keys.private_key));
	assert_int_equal(file_of(m, "id_ed25519")->mode, 0600);
	assert_string_equal(text_of(m, "ssh_host_ed25519_key"),
			    secret_reveal(m->keys.members[1].host_key));
	assert_int_equal(file_of(m, "ssh_host_ed25519_key")->mode, 0600);
	assert_int_equal(file_of(m, "secret")->mode, 0600);
	assert_string_equal(text_of(m, "secret"), secret_reveal(m->keys.secret));
	assert_has(file_of(m, "authorized_keys")->text, m->keys.public_key);
	assert_has(file_of(m, "sshd_config")->text, "ListenAddress 10.0.0.2\n");
	assert_has(file_of(m, "sshd_config")->text, "PasswordAuthentication no\n");
}

/* No generated file ever switches host key checking off. */
static void test_host_keys_are_always_checked(void **state)
{
	struct meshed *m = mesh(*state, YAML, 0);
	const char *config = file_of(m, "ssh_config")->text;
	size_t hosts = 0, strict = 0;

	for (const struct key_file *f = m->files; f->name; f++) {
		assert_lacks(text_of(m, f->name), "StrictHostKeyChecking no");
		assert_lacks(text_of(m, f->name), "StrictHostKeyChecking=no");
		assert_lacks(text_of(m, f->name), "accept-new");
		assert_lacks(text_of(m, f->name), "/dev/null");
	}
	for (const char *p = config; (p = strstr(p, "Host ")); p++)
		hosts += p == config || p[-1] == '\n';
	for (const char *p = config; (p = strstr(p, "StrictHostKeyChecking yes")); p++)
		strict++;
	assert_int_equal(hosts, 3);
	assert_int_equal(strict, 3);
}

/* ssh-keygen itself finds every container of the mesh, with the key that it has. */
static void test_known_hosts_has_everyone(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 0);
	const char *path = on_disk(s, m, "known_hosts");
	static const char *const names[] = {"[node01]:9435", "[10.0.0.2]:9435", "[fd00::3]:9435"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};
		struct proc proc = {.words = WORDS("ssh-keygen", "-F", names[i], "-f", path)};
		struct error err = {0};
		const char *public = m->keys.members[i].host_public;

		assert_fine(proc_run(&proc, &result, &err));
		if (result.status != 0)
			fail_msg("ssh-keygen finds no %s", names[i]);
		assert_has(result.out.text, arena_printf(&s->arena, "%.*s",
							 (int)strcspn(strchr(public, ' ') + 1, " "),
							 strchr(public, ' ') + 1));
	}
}

/* A host whose address in the file is a name: the workers get the numbers that the probe found. */
static void test_address_in_numbers(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, "hosts: [{address: f.site, name: f}, g.site]\n", 0);

	m->fleet->members[0].address = "10.0.0.1";
	m->fleet->members[1].address = "10.0.0.2";
	keys_files(m->fleet, &m->keys, &m->fleet->members[0], &s->arena, m->files);
	assert_string_equal(text_of(m, "hosts"), "10.0.0.1 f\n10.0.0.1 f.site\n10.0.0.2 g.site\n");
	assert_has(text_of(m, "ssh_config"), "Host f f.site 10.0.0.1\n    HostName 10.0.0.1\n");
	assert_has(text_of(m, "ssh_config"), "Host g.site 10.0.0.2\n    HostName 10.0.0.2\n");
	assert_has(text_of(m, "known_hosts"), "[10.0.0.1]:9435 ssh-ed25519 ");
	assert_has(text_of(m, "sshd_config"), "ListenAddress 10.0.0.1\n");
}

/* What /etc/hosts can hold: the rest is left to the resolver of the hosts. */
static void test_hosts(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(text_of(mesh(s, YAML, 0), "hosts"), "10.0.0.2 two\nfd00::3 three\n");
	assert_string_equal(
		text_of(mesh(s,
			     "hosts: [10.0.0.1, \"fd00::9\", {address: 10.0.0.2, name: \"b:c\"}, "
			     "{address: 10.0.0.3, name: LocalHost}, {address: 10.0.0.4, name: 1.2}, "
			     "{address: 10.0.0.5, name: \"7\"}, {address: 10.0.0.999, name: e}, "
			     "{address: f.site, name: f}, {address: 10.0.0.6, name: G_1-x.y}]\n"
			     "container: {engine: docker}\n",
			     0),
			"hosts"),
		"10.0.0.6 G_1-x.y\n");
	assert_int_equal(file_of(mesh(s, YAML, 0), "hosts")->mode, 0644);
}

/* What the real ssh makes of the file. */
static const char *effective(struct scratch *s, const char *config, const char *host)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS("ssh", "-G", "-F", config, host)};
	struct error err = {0};

	assert_fine(proc_run(&proc, &result, &err));
	if (result.status != 0)
		fail_msg("ssh -G: %s", result.err.text);
	return arena_strdup(&s->arena, result.out.text);
}

static void test_ssh_config(void **state)
{
	struct scratch *s = *state;
	const char *config = on_disk(s, mesh(s, YAML, 0), "ssh_config"), *text;
	static const struct {
		const char *host, *line;
	} cases[] = {{"node01", "hostname node01\n"},
		     {"two", "hostname 10.0.0.2\n"},
		     {"10.0.0.2", "hostname 10.0.0.2\n"},
		     {"three", "hostname fd00::3\n"},
		     {"fd00::3", "hostname fd00::3\n"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		text = effective(s, config, cases[i].host);
		assert_has(text, cases[i].line);
		assert_has(text, "port 9435\n");
		assert_has(text, "user root\n");
		assert_has(text, "stricthostkeychecking true\n");
		assert_has(text, "userknownhostsfile /etc/ringup/ssh/known_hosts\n");
		assert_has(text, "identityfile /etc/ringup/ssh/id_ed25519\n");
	}
}

/* sshd_config on disk with the paths of the test in it, and the files that it names. */
static const char *sshd_here(struct scratch *s, const struct meshed *m, const char *more)
{
	const char *text = file_of(m, "sshd_config")->text, *inside;
	_cleanup_(str_release) struct str here = STR_INIT;

	/* a root sshd wants it; its service makes it, where there is one */
	if (getuid() == 0)
		mkdir("/run/sshd", 0755);
	on_disk(s, m, "ssh_host_ed25519_key");
	on_disk(s, m, "authorized_keys");
	while ((inside = strstr(text, "/etc/ringup/ssh"))) {
		str_add_bytes(&here, text, (size_t)(inside - text));
		str_add(&here, s->folder);
		text = inside + strlen("/etc/ringup/ssh");
	}
	str_add(&here, text);
	str_add(&here, more);
	return put(s, "sshd", here.text);
}

/* The real sshd reads the file. */
static void test_sshd_config(void **state)
{
	static const char *const lines[] = {
		"listenaddress 10.0.0.2:9435\n",
		"port 9435\n",
		"passwordauthentication no\n",
		"kbdinteractiveauthentication no\n",
		"permitrootlogin without-password\n",
		"usepam no\n",
		"allowtcpforwarding no\n",
		"allowstreamlocalforwarding no\n",
		"allowagentforwarding no\n",
		"x11forwarding no\n",
		"permittunnel no\n",
		"gatewayports no\n",
		"permituserenvironment no\n",
		"permituserrc no\n",
		"printlastlog no\n",
	};
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	const char *config = sshd_here(s, mesh(s, YAML, 1), "");
	struct proc proc = {.words = WORDS("/usr/sbin/sshd", "-T", "-f", config)};
	struct error err = {0};

	assert_fine(proc_run(&proc, &result, &err));
	if (result.status != 0)
		fail_msg("sshd -T: %s", result.err.text);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_has(result.out.text, lines[i]);
}

/* The real ssh logs in with the cluster's key to an sshd that has no port: they share a pipe. */
static int log_in(struct scratch *s, const struct meshed *m, const char *const *options,
		  const char *const *command)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct words words = WORDS_INIT(&s->arena);
	struct proc proc = {.timeout_s = 60};
	struct error err = {0};

	/* with an agent, so that there is one to forward */
	words_add_all(&words,
		      WORDS("ssh-agent", "ssh", "-F", "none", "-o", "BatchMode=yes", "-o",
			    "StrictHostKeyChecking=yes", "-o", "HostKeyAlias=[10.0.0.2]:9435", "-o",
			    "ExitOnForwardFailure=yes"));
	words_addf(&words, "-oUserKnownHostsFile=%s", on_disk(s, m, "known_hosts"));
	words_addf(&words, "-oProxyCommand=/usr/sbin/sshd -i -e -f %s",
		   sshd_here(s, m, "StrictModes no\n"));
	words_add_all(&words, WORDS("-i", on_disk(s, m, "id_ed25519")));
	words_add_all(&words, options);
	words_add(&words, "worker");
	words_add_all(&words, command);
	proc.words = words.list;
	assert_fine(proc_run(&proc, &result, &err));
	return result.status;
}

static void test_sshd_forwards_nothing(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 1);
	const char *sockets = arena_printf(&s->arena, "%s:%s", in(s, "there"), in(s, "here"));
	static const char *const no_words[] = {NULL};

	assert_int_equal(log_in(s, m, no_words, WORDS("exit 7")), 7);
	assert_int_equal(log_in(s, m, WORDS("-A"), WORDS("test -z \"$SSH_AUTH_SOCK\"")), 0);
	assert_int_equal(log_in(s, m, WORDS("-R", sockets), WORDS("true")), 255);
	assert_int_equal(log_in(s, m, WORDS("-R", "0:127.0.0.1:1"), WORDS("true")), 255);
	assert_int_equal(log_in(s, m, WORDS("-W", "127.0.0.1:1"), no_words), 255);
	assert_false(file_exists(in(s, "there")));
}

/* Damage is said, not papered over with a new key. */
/* Without sshds; and with `auto` each host's own port, of a host that has none yet nothing. */
static void test_other_ports(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, "hosts: [a]\ncontainer: {sshd_port: none}\n", 0);

	assert_lacks(text_of(m, "sshd_config"), "\nPort");
	assert_string_equal(text_of(m, "ssh_config"), "");
	assert_string_equal(text_of(m, "known_hosts"), "");
	m = mesh(s, "hosts: [10.0.0.1, 10.0.0.2, 10.0.0.3]\ncontainer: {sshd_port: auto}\n", 0);
	m->fleet->members[0].sshd_port = 9435;
	m->fleet->members[1].sshd_port = 9437;
	keys_files(m->fleet, &m->keys, &m->fleet->members[1], &s->arena, m->files);
	assert_has(text_of(m, "sshd_config"), "Port 9437\nListenAddress 10.0.0.2\n");
	assert_has(text_of(m, "ssh_config"), "HostName 10.0.0.1\n    Port 9435\n");
	assert_has(text_of(m, "ssh_config"), "HostName 10.0.0.2\n    Port 9437\n");
	assert_has(text_of(m, "known_hosts"), "[10.0.0.2]:9437 ssh-ed25519 ");
	assert_lacks(text_of(m, "ssh_config"), "10.0.0.3");
	assert_lacks(text_of(m, "known_hosts"), "10.0.0.3");
}

static void test_half_a_pair(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 0);
	struct error err = {0};

	assert_int_equal(unlink(in(s, ".ringup/keys/id_ed25519.pub")), 0);
	assert_fails(keys_load(m->fleet, &s->arena, &m->keys, &err), ERROR_FAILED,
		     "id_ed25519.pub");
}

/* Nothing secret stays in memory after its use: neither the keys nor the copies in a host's tar. */
static void test_wiped(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 0);
	struct parcel parcel = {0};
	struct bringup bringup = {.accelerator = "cpu", .registry = "r", .keys = m->keys};
	const struct secret held[] = {m->keys.private_key, m->keys.secret,
				      m->keys.members[2].host_key};
	struct error err = {0};

	assert_fine(parcel_make(&m->fleet->members[0], &bringup, &parcel, &err));
	assert_non_null(memmem(parcel.tar, parcel.tar_bytes, secret_reveal(m->keys.secret), 64));
	parcel_release(&parcel);
	assert_null(parcel.tar);
	keys_wipe(&m->keys);
	for (size_t i = 0; i < ARRAY_LEN(held); i++)
		assert_string_equal(secret_reveal(held[i]), "");
	assert_string_equal(secret_reveal(m->keys.secret), "");
	keys_wipe(&(struct keys){0});
}

static const char *parcel_digest(struct scratch *s, struct meshed *m, size_t member, const char *ca)
{
	_cleanup_(parcel_release) struct parcel parcel = {0}, measured = {0};
	struct bringup bringup = {.accelerator = "cpu", .registry = "r", .registry_ca = ca};
	struct error err = {0};

	bringup.keys = m->keys;
	assert_fine(parcel_make(&m->fleet->members[member], &bringup, &parcel, &err));
	assert_true(parcel.tar_bytes > 0 && parcel.tar_bytes % 512 == 0);
	assert_true(digest_is_valid(parcel.digest));
	/* measured, it has the same digest and no tar */
	assert_fine(parcel_measure(&m->fleet->members[member], &bringup, &measured, &err));
	assert_string_equal(measured.digest, parcel.digest);
	assert_null(measured.tar);
	return arena_strdup(&s->arena, parcel.digest);
}

/* The programs of hosts without containers are in the tar, and a change of one is a change of the digest. */
static void test_parcel_programs(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 0);
	struct parcel_program programs[] = {{.path = "bin/a", .bytes = "one", .length = 3}, {0}};
	struct bringup bringup = {.registry = "r", .keys = m->keys, .programs = programs};
	struct parcel parcel = {0}, other = {0};
	struct error err = {0};

	digest_of("one", 3, programs[0].digest);
	assert_fine(parcel_make(&m->fleet->members[0], &bringup, &parcel, &err));
	assert_non_null(memmem(parcel.tar, parcel.tar_bytes, "bin/a", 6));
	programs[0].bytes = "two";
	digest_of("two", 3, programs[0].digest);
	assert_fine(parcel_measure(&m->fleet->members[0], &bringup, &other, &err));
	assert_string_not_equal(parcel.digest, other.digest);
	parcel_release(&parcel);
}

/* A host is sent its files again only when one of them differs. */
static void test_parcel(void **state)
{
	struct scratch *s = *state;
	struct meshed *m = mesh(s, YAML, 0), *more;
	const char *first = parcel_digest(s, m, 0, "PEM");

	assert_string_equal(parcel_digest(s, m, 0, "PEM"), first);
	assert_string_not_equal(parcel_digest(s, m, 1, "PEM"), first);
	assert_string_not_equal(parcel_digest(s, m, 0, "PEN"), first);
	assert_string_not_equal(parcel_digest(s, m, 0, NULL), first);
	more = mesh(s, "name: lab\nhosts: [node01, x]\ncontainer: {engine: docker}\n", 0);
	assert_string_not_equal(parcel_digest(s, more, 0, "PEM"), first);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_made_once),
		FLEET_TEST(test_open_files_are_closed),
		FLEET_TEST(test_a_host_more),
		FLEET_TEST(test_files),
		FLEET_TEST(test_host_keys_are_always_checked),
		FLEET_TEST(test_known_hosts_has_everyone),
		FLEET_TEST(test_hosts),
		FLEET_TEST(test_address_in_numbers),
		FLEET_TEST(test_ssh_config),
		FLEET_TEST(test_sshd_config),
		FLEET_TEST(test_sshd_forwards_nothing),
		FLEET_TEST(test_other_ports),
		FLEET_TEST(test_half_a_pair),
		FLEET_TEST(test_wiped),
		FLEET_TEST(test_parcel),
		FLEET_TEST(test_parcel_programs),
	};

	return cmocka_run_group_tests_name("keys", tests, NULL, NULL);
}
