/* SPDX-License-Identifier: MIT */
/* cluster.yaml: every key, every default, and errors that name file, line and column. */
#include "tests/unit/support.h"

#include "plan/cluster.h"

static void load(struct scratch *s, const char *text, struct cluster *cluster)
{
	struct error err = {0};

	assert_fine(cluster_load(put(s, "cluster.yaml", text), &s->arena, cluster, &err));
}

static void assert_words(const char *const *words, const char *const *wanted)
{
	for (; *wanted; words++, wanted++) {
		assert_non_null(*words);
		assert_string_equal(*words, *wanted);
	}
	assert_null(*words);
}

static void test_defaults(void **state)
{
	struct scratch *s = *state;
	struct cluster c;

	load(s, "hosts: [node01]\n", &c);
	assert_string_equal(c.name, "ringup");
	assert_string_equal(c.path, in(s, "cluster.yaml"));
	assert_string_equal(c.folder, s->folder);
	assert_int_equal(c.host_count, 1);
	assert_string_equal(c.hosts[0].name, "node01");
	assert_string_equal(c.hosts[0].address, "node01");
	assert_string_equal(c.hosts[0].user, "root");
	assert_int_equal(c.hosts[0].port, 22);
	assert_int_equal(c.hosts[0].slots, 0);
	assert_string_equal(c.hosts[0].gpus, "");
	assert_string_equal(c.hosts[0].arch, "");
	assert_string_equal(c.ssh.key, "~/.ssh/id_ed25519");
	assert_string_equal(c.ssh.known_hosts, "~/.ssh/known_hosts");
	assert_string_equal(c.ssh.jump, "");
	assert_false(c.ssh.sudo);
	assert_string_equal(c.ssh.transport, "auto");
	assert_string_equal(c.registry.address, "");
	assert_string_equal(c.registry.namespace, "ringup");
	assert_string_equal(c.registry.ca, "");
	assert_false(c.registry.insecure);
	assert_null(c.stack[0]);
	assert_string_equal(c.accelerator, "auto");
	assert_string_equal(c.mirrors.apt, "");
	assert_string_equal(c.image.name, "ringup");
	assert_string_equal(c.image.base, "auto");
	assert_null(c.image.apt[0]);
	assert_int_equal(c.image.file_count, 0);
	assert_string_equal(c.build.engine, "auto");
	assert_string_equal(c.build.docker_host, "");
	assert_string_equal(c.build.userns, "auto");
	assert_string_equal(c.container.engine, "auto");
	assert_string_equal(c.container.sshd_port, "9435");
	assert_string_equal(c.container.gpus, "all");
	assert_words(c.container.capabilities, WORDS("compute", "utility"));
	assert_string_equal(c.container.network, "host");
	assert_string_equal(c.container.interface, "auto");
	assert_string_equal(c.container.shm_size, "8g");
	assert_string_equal(c.container.devices, "auto");
	assert_false(c.container.privileged);
	assert_null(c.container.volumes[0]);
	assert_null(c.container.env[0]);
	assert_null(c.container.ulimits[0]);
}

static const char EVERY_KEY[] =
	"name: lab\n"
	"hosts: [ \"node[01-03]\", {address: 10.0.0.9, name: big, user: ops, port: 2222, slots: 4, gpus: \"0,1\", arch: amd64} ]\n"
	"ssh: {user: me, key: keys/id, known_hosts: ~/kh, jump: bastion, sudo: true, transport: openssh}\n"
	"registry: {address: \"10.0.0.254:5000\", namespace: team, ca: ./ca.pem, insecure: true}\n"
	"stack: [ \"openmpi==4.1.4\", python ]\n"
	"accelerator: cpu\n"
	"mirrors: {apt: http://a, yum: http://y, pip: http://p, docker: http://d, downloads: http://l}\n"
	"image: {name: train, base: r.io/b, apt: [git, vim], pip: [numpy], files: [{from: ./src, to: /workspace}], env: {A: b, C: \"d e\"}, platforms: [linux/amd64], limits: {unpacked: 40G, entries: 7}}\n"
	"build: {engine: docker, docker_host: unix:///x, userns: never}\n"
	"container: {engine: none, sshd_port: 9000, gpus: none, capabilities: [compute], network: host, interface: eth1, shm_size: 1g, volumes: [\"/data:/data:ro\"], env: {NCCL_DEBUG: WARN}, privileged: true, ulimits: {memlock: -1}, devices: none}\n"
	"jobs: {train: {command: [a, b c], launcher: env, roles: chief=1, n: 3, ppn: 2, gpus: 1, hosts: [node01], env: {A: b}, workdir: /w, sync: ./src, limit: 9, hang_timeout: 8, start_limit: 7, retries: 6}, eval: {command: a | b}}\n";

static void check_parts(const struct cluster *c)
{
	assert_string_equal(c->ssh.jump, "bastion");
	assert_true(c->ssh.sudo);
	assert_string_equal(c->ssh.transport, "openssh");
	assert_string_equal(c->registry.address, "10.0.0.254:5000");
	assert_string_equal(c->registry.namespace, "team");
	assert_true(c->registry.insecure);
	assert_words(c->stack, WORDS("openmpi==4.1.4", "python"));
	assert_string_equal(c->accelerator, "cpu");
	assert_string_equal(c->mirrors.apt, "http://a");
	assert_string_equal(c->mirrors.yum, "http://y");
	assert_string_equal(c->mirrors.pip, "http://p");
	assert_string_equal(c->mirrors.docker, "http://d");
	assert_string_equal(c->mirrors.downloads, "http://l");
	assert_string_equal(c->build.engine, "docker");
	assert_string_equal(c->build.docker_host, "unix:///x");
	assert_string_equal(c->build.userns, "never");
}

static void check_image(const struct cluster *c)
{
	assert_string_equal(c->image.name, "train");
	assert_string_equal(c->image.base, "r.io/b");
	assert_words(c->image.apt, WORDS("git", "vim"));
	assert_words(c->image.pip, WORDS("numpy"));
	assert_words(c->image.env, WORDS("A=b", "C=d e"));
	assert_words(c->image.platforms, WORDS("linux/amd64"));
	assert_string_equal(c->image.limits.unpacked, "40G");
	assert_int_equal(c->image.limits.entries, 7);
	assert_int_equal(c->image.file_count, 1);
	assert_string_equal(c->image.files[0].from, "./src");
	assert_string_equal(c->image.files[0].to, "/workspace");
}

static void check_jobs(const struct cluster *c)
{
	const struct cluster_job *job = cluster_job(c, "train");

	assert_int_equal(c->job_count, 2);
	assert_words(job->command, WORDS("a", "b c"));
	assert_false(job->in_shell);
	assert_string_equal(job->launcher, "env");
	assert_string_equal(job->roles, "chief=1");
	assert_int_equal(job->ranks, 3);
	assert_int_equal(job->per_host, 2);
	assert_int_equal(job->gpus, 1);
	assert_words(job->hosts, WORDS("node01"));
	assert_words(job->env, WORDS("A=b"));
	assert_string_equal(job->workdir, "/w");
	assert_string_equal(job->sync, "./src");
	assert_int_equal(job->timeout_s, 9);
	assert_int_equal(job->hang_timeout_s, 8);
	assert_int_equal(job->start_timeout_s, 7);
	assert_int_equal(job->retries, 6);
	assert_words(cluster_job(c, "eval")->command, WORDS("a | b"));
	assert_true(cluster_job(c, "eval")->in_shell);
	assert_string_equal(cluster_job(c, "eval")->launcher, "auto");
	assert_string_equal(cluster_job(c, "eval")->roles, "");
	assert_null(cluster_job(c, "other"));
}

static void check_container(const struct cluster *c)
{
	assert_string_equal(c->container.engine, "none");
	assert_string_equal(c->container.sshd_port, "9000");
	assert_string_equal(c->container.gpus, "none");
	assert_words(c->container.capabilities, WORDS("compute"));
	assert_string_equal(c->container.interface, "eth1");
	assert_string_equal(c->container.shm_size, "1g");
	assert_words(c->container.volumes, WORDS("/data:/data:ro"));
	assert_words(c->container.env, WORDS("NCCL_DEBUG=WARN"));
	assert_true(c->container.privileged);
	assert_words(c->container.ulimits, WORDS("memlock=-1"));
	assert_string_equal(c->container.devices, "none");
}

static void test_every_key(void **state)
{
	struct scratch *s = *state;
	struct cluster c;

	load(s, EVERY_KEY, &c);
	assert_string_equal(c.name, "lab");
	assert_int_equal(c.host_count, 4);
	assert_string_equal(c.hosts[2].name, "node03");
	assert_string_equal(c.hosts[2].user, "me");
	assert_string_equal(c.hosts[3].name, "big");
	assert_string_equal(c.hosts[3].address, "10.0.0.9");
	assert_string_equal(c.hosts[3].user, "ops");
	assert_int_equal(c.hosts[3].port, 2222);
	assert_int_equal(c.hosts[3].slots, 4);
	assert_string_equal(c.hosts[3].gpus, "0,1");
	assert_string_equal(c.hosts[3].arch, "amd64");
	check_parts(&c);
	check_image(&c);
	check_container(&c);
	check_jobs(&c);
	assert_ptr_equal(cluster_host(&c, "big"), &c.hosts[3]);
	assert_ptr_equal(cluster_host(&c, "10.0.0.9"), &c.hosts[3]);
	assert_null(cluster_host(&c, "none"));
	assert_string_equal(cluster_path(&c, c.registry.ca, &s->arena), in(s, "./ca.pem"));
	assert_string_equal(cluster_state_path(&c, "keys", &s->arena), in(s, ".ringup/keys"));
}

static void test_json(void **state)
{
	struct scratch *s = *state;
	struct cluster c;

	load(s,
	     "{\"name\": \"lab\", \"hosts\": [\"n[1-2]\", {\"address\": \"x\", \"port\": 23}],\n"
	     " \"container\": {\"privileged\": true}}\n",
	     &c);
	assert_int_equal(c.host_count, 3);
	assert_int_equal(c.hosts[2].port, 23);
	assert_true(c.container.privileged);
}

static void test_no_capabilities(void **state)
{
	struct cluster c;

	load(*state, "hosts: [a]\ncontainer: {capabilities: []}\n", &c);
	assert_null(c.container.capabilities[0]);
}

/* Text, where the error must point, and what it must say. */
static const struct {
	const char *text, *where, *says;
} errors[] = {
	{"", "1:1", "'hosts' must list"},
	{"hosts: []\n", "1:8", "'hosts' must list"},
	{"hosts: node01\n", "1:8", "'hosts' must list"},
	{"hosts: [a]\njobs: {t: {n: 1}}\n", "2:11", "the job 't' needs a 'command'"},
	{"hosts: [a]\njobs: {t: {command: []}}\n", "2:21", "the job 't' needs a 'command'"},
	{"hosts: [a]\njobs: {t: {command: [\"\"]}}\n", "2:21", "the job 't' needs a 'command'"},
	{"hosts: [a]\njobs: {t: {command: \" \\n\"}}\n", "2:21", "the job 't' needs a 'command'"},
	{"hosts: [a]\njobs: {a23456789b123456789c123456789d123456789e123456789f123456: {command: a}}\n",
	 "2:66", "cannot be a job's name: it takes letters, digits, '.', '_' and '-', 55 at most"},
	{"jobs: {n2: {command: a}}\nhosts: [\"n[1-3]\"]\n", "1:12",
	 "a job cannot be called 'n2': a host has that name"},
	{"hosts: [a]\njobs: {../t: {command: a}}\n", "2:14", "cannot be a job's name"},
	{"hosts: [a]\njobs: {t: {command: a, comand: b}}\n", "2:24",
	 "unknown key 'comand' in the job 't'; did you mean 'command'?"},
	{"hosts: [a]\njobs: {t: {command: a, n: -1}}\n", "2:27", "'n' must be a whole number"},
	{"hosts: [a]\njobs: [a]\n", "2:7", "'jobs' must be a map of NAME: {command"},
	{"hosts:\n", "1:1", "'hosts' must list"},
	{"[a]\n", "1:1", "must be a map"},
	{"hosts: [a]\ncontainer: {gpus: abc}\n", "2:19", "'gpus': 'abc' names no GPUs"},
	{"hosts: [a]\ncontainer: {gpus: 0-3}\n", "2:19", "write each index: 0,1,2,3"},
	{"hosts: [{address: a, gpus: 0}]\n", "1:28", "device=0"},
	{"hosts: [{address: a, gpus: \"1,1\"}]\n", "1:28", "the GPU 1 twice"},
	{"hosts: [a]\nhots: [b]\n", "2:1", "unknown key 'hots' in the file; did you mean 'hosts'?"},
	{"hosts: [a]\nkubernetes: {}\n", "2:1", "known keys: name hosts groups ssh"},
	{"hosts: [a, a]\n", "1:12", "the host 'a' stands twice"},
	{"hosts: [\"n[1-3]\", n2]\n", "1:19", "the host 'n2' stands twice"},
	{"hosts: [{address: x, name: a}, a]\n", "1:32", "the host 'a' stands twice"},
	{"hosts:\n  - a\n  - [b]\n", "3:5", "a name or a map"},
	{"hosts: [\"n[3-1]\"]\n", "1:9", "must rise"},
	{"hosts: [\"n[1-3\"]\n", "1:9", "']'"},
	{"hosts: [\"n[1-9999]\"]\n", "1:9", "more hosts"},
	{"hosts: [\"\"]\n", "1:9", "empty"},
	{"hosts: [\"a b\"]\n", "1:9", "'a b' is not a host name"},
	{"hosts: [10.0.0.1:2222]\n", "1:9",
	 "'10.0.0.1:2222' is no address: a port is the host's 'port', as in {address: 10.0.0.1, port: 2222}"},
	{"hosts: [{name: a, address: \"b:22\"}]\n", "1:9", "'b:22' is no address"},
	{"hosts: [\"fe80::12345\"]\n", "1:9", "is no address"},
	{"hosts: [\"$(id)\"]\n", "1:9", "not a host name"},
	{"hosts: [-oProxyCommand=x]\n", "1:9", "not a host name"},
	{"hosts: [-a]\n", "1:9", "not a host name"},
	{"hosts: [{address: a, adress: b}]\n", "1:22", "did you mean 'address'?"},
	{"hosts: [{name: a}]\n", "1:9", "needs an 'address'"},
	{"hosts: [{address: \"\"}]\n", "1:9", "not a host name"},
	{"hosts: [{address: a, name: \"\"}]\n", "1:9", "not a host name"},
	{"hosts: [{address: a, name: ../x}]\n", "1:9", "not a host name"},
	{"hosts: [{address: a, name: \"x\\n ProxyCommand y\"}]\n", "1:9", "not a host name"},
	{"hosts: [{address: a, name: -x}]\n", "1:9", "not a host name"},
	{"hosts: [{address: a, user: -oX}]\n", "1:9", "not a user name"},
	{"hosts: [{address: a, port: 0}]\n", "1:28", "'port' must be a whole number from 1"},
	{"hosts: [{address: a, port: 65536}]\n", "1:28", "'port' must be a whole number"},
	{"hosts: [{address: a, port: ssh}]\n", "1:28", "not 'ssh'"},
	{"hosts: [{address: a, slots: 0}]\n", "1:29", "'slots' must be"},
	{"hosts: [{address: [a]}]\n", "1:19", "'address' must be a word"},
	{"hosts: [a]\nname: Lab\n", "2:7", "'name' is 'Lab'"},
	{"hosts: [a]\nname: 1lab\n", "2:7", "a name begins with"},
	{"hosts: [a]\nname: lab-\n", "2:7", "a name begins with"},
	{"hosts: [a]\nname: ../lab\n", "2:7", "a name begins with"},
	{"hosts: [a]\nname: \"\"\n", "2:7", "a name begins with"},
	{"hosts: [a]\nname: [x]\n", "2:7", "'name' must be a word"},
	{"hosts: [a]\nname: aaaaaaaaaabbbbbbbbbbccccccccccddddddddddx\n", "2:7", "40 at most"},
	{"hosts: [a]\nssh: root\n", "2:6", "'ssh' must be a map"},
	{"hosts: [a]\nssh: {usr: root}\n", "2:7",
	 "unknown key 'usr' in 'ssh'; did you mean 'user'?"},
	{"hosts: [a]\nssh: {sudo: yes}\n", "2:13", "'sudo' must be true or false"},
	{"hosts: [a]\nssh: {transport: opnssh}\n", "2:18", "it can be auto, libssh2, openssh"},
	{"hosts: [a]\nssh: {keep: 60, transport: libssh2}\n", "2:13", "'keep' needs"},
	{"hosts: [a]\nssh: {keep: -1}\n", "2:13", "keep"},
	{"hosts: [a]\nregistry: {adress: x}\n", "2:12", "did you mean 'address'?"},
	{"hosts: [a]\nregistry: [x]\n", "2:11", "'registry' must be a map"},
	{"hosts: [a]\nregistry: {insecure: 1}\n", "2:22", "true or false"},
	{"hosts: [a]\nstack: {a: b}\n", "2:8", "'stack' must be a list of words"},
	{"hosts: [a]\nstack: [{a: b}]\n", "2:9", "'stack' must be a list of words"},
	{"hosts: [a]\naccelerator: gpu\n", "2:14", "'accelerator' cannot be 'gpu'"},
	{"hosts: [a]\ncontainer: {gpus: [0, 1]}\n", "2:19", "'gpus' must be a word: write \"0,1\""},
	{"hosts: [a]\ncontainer: {capabilities: [all]}\n", "2:27", "cannot have 'all'"},
	{"hosts: [a]\ncontainer: {ulimits: {nofiles: 3}}\n", "2:22", "has no 'nofiles'"},
	{"hosts: [a]\ncontainer: {ulimits: {nofile: \"10:x\"}}\n", "2:22", "'nofile=10:x'"},
	{"hosts: [a]\ncontainer: {volumes: [\"./d:/d\"]}\n", "2:22", "write the whole path"},
	{"hosts: [a]\ncontainer: {volumes: [\"\"]}\n", "2:22", "it takes /ON/HOST:/IN/CONTAINER"},
	{"hosts: [a]\ncontainer: {volumes: [\"a:b\"]}\n", "2:22",
	 "it takes /ON/HOST:/IN/CONTAINER"},
	{"hosts: [a]\ncontainer: {env: {\"=\": y}}\n", "2:18", "without a name"},
	{"hosts: [a]\naccelerator: cudaa\n", "2:14", "it can be auto, cuda, cpu"},
	{"hosts: [a]\nmirrors: {atp: x}\n", "2:11", "unknown key 'atp' in 'mirrors'"},
	{"hosts: [a]\nimage: {files: x}\n", "2:16", "'files' must be a list"},
	{"hosts: [a]\nimage: {files: [{from: x}]}\n", "2:17", "needs 'from' and an absolute 'to'"},
	{"hosts: [a]\nimage: {files: [{from: x, to: y}]}\n", "2:17", "an absolute 'to'"},
	{"hosts: [a]\nimage: {files: [{form: x, to: /y}]}\n", "2:18", "did you mean 'from'?"},
	{"hosts: [a]\nimage: {env: [A]}\n", "2:14", "'env' must be a map"},
	{"hosts: [a]\nimage: {platforms: [linux/ppc64le]}\n", "2:20", "linux/ppc64le"},
	{"hosts: [{address: a, arch: sparc}]\n", "1:28", "amd64 or arm64"},
	{"hosts: [a]\nimage: {limits: {unpacked: 1.5G}}\n", "2:28", "a size such as 40G"},
	{"hosts: [a]\nimage: {limits: {entries: 0}}\n", "2:27", "entries"},
	{"hosts: [a]\nbuild: {engin: x}\n", "2:9", "did you mean 'engine'?"},
	{"hosts: [a]\ncontainer: {sshd_port: 0}\n", "2:24", "from 1 to 65535"},
	{"hosts: [a]\ncontainer: {sshd_port: 65536}\n", "2:24", "from 1 to 65535"},
	{"hosts: [a]\ncontainer: {sshd_port: x}\n", "2:24", "'sshd_port' must be"},
	{"hosts: [a]\ncontainer: {priviledged: true}\n", "2:13", "did you mean 'privileged'?"},
	{"hosts: [a]\ncontainer: {volumes: {a: b}}\n", "2:22", "'volumes' must be a list"},
	{"hosts: [a]\ncontainer: {network: bridge}\n", "2:22", "'network' cannot be 'bridge'"},
	{"hosts: [a]\ncontainer: {devices: all}\n", "2:22", "'devices' cannot be 'all'"},
	{"hosts: &h [a]\nstack: *h\n", "1:8", "anchors"},
	{"hosts: [a]\nhosts: [b]\n", "2:1", "'hosts' stands twice"},
	{"name: registry\nhosts: [a]\n", "1:7", "ringup's own registry"},
	{"name: registry-5001\nhosts: [a]\n", "1:7", "ringup's own registry"},
	{"hosts: [a\nname: x\n", "", ""},
};

/* A file for a scheduler, which has hosts of its own. */
static void test_no_hosts(void **state)
{
	struct scratch *s = *state;
	struct cluster c;
	struct error err = {0};

	assert_fine(
		cluster_load(put(s, "cluster.yaml", "name: lab\nhosts:\n"), &s->arena, &c, &err));
	assert_int_equal(c.host_count, 0);
}

static void test_errors(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
		const char *path = put(s, "cluster.yaml", errors[i].text);
		const char *where = arena_printf(&s->arena, "%s:%s", path, errors[i].where);
		struct cluster c;
		struct error err = {0};

		if (cluster_load(path, &s->arena, &c, &err) == 0)
			fail_msg("accepted: %s", errors[i].text);
		assert_int_equal(err.kind, ERROR_USAGE);
		if (strncmp(err.text, where, strlen(where)) != 0)
			fail_msg("for %s: \"%s\" does not begin with %s", errors[i].text, err.text,
				 where);
		assert_has(err.text, errors[i].says);
	}
}

static void test_missing_file(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;

	assert_fails(cluster_load(in(s, "none.yaml"), &s->arena, &c, &err), ERROR_USAGE,
		     in(s, "none.yaml"));
	assert_has(err.text, "ringup lab up");
}

static void test_too_many_hosts(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;

	load(s, "hosts: [\"n[1-4096]\"]\n", &c);
	assert_int_equal(c.host_count, 4096);
	assert_fails(
		cluster_load(put(s, "c.yaml", "hosts: [\"n[1-4096]\", x]\n"), &s->arena, &c, &err),
		ERROR_USAGE, ":1:22: more than 4096 hosts");
}

static void test_host_named(void **state)
{
	static const struct {
		const char *text, *name, *address, *user;
		int port; /* 0: refused */
	} rows[] = {
		{"big", "big", "10.0.0.9", "root", 24},
		{"10.0.0.9", "big", "10.0.0.9", "root", 24},
		{"10.0.0.8", "10.0.0.8", "10.0.0.8", "ops", 22},
		{"ann@rack.lab:2222", "rack.lab", "rack.lab", "ann", 2222},
		{"[fe80::1]:23", "fe80::1", "fe80::1", "ops", 23},
		{"fe80::1", "fe80::1", "fe80::1", "ops", 22},
		{"ann@[::1]", "::1", "::1", "ann", 22},
		{"", "", "", "", 0},
		{"a b", "", "", "", 0},
		{"-oProxyCommand=x", "", "", "", 0},
		{"@a", "", "", "", 0},
		{"-l@a", "", "", "", 0},
		{"a:", "", "", "", 0},
		{"a:0", "", "", "", 0},
		{"a:65536", "", "", "", 0},
		{"a:ssh", "", "", "", 0},
		{"[::1]22", "", "", "", 0},
		{"[]:22", "", "", "", 0},
	};
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;

	load(s, "hosts: [{address: 10.0.0.9, name: big, user: root, port: 24}]\nssh: {user: ops}\n",
	     &c);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct host host;

		if (!rows[i].port) {
			assert_fails(cluster_host_named(&c, rows[i].text, &s->arena, &host, &err),
				     ERROR_USAGE, "[USER@]ADDRESS[:PORT]");
			continue;
		}
		assert_fine(cluster_host_named(&c, rows[i].text, &s->arena, &host, &err));
		assert_string_equal(host.name, rows[i].name);
		assert_string_equal(host.address, rows[i].address);
		assert_string_equal(host.user, rows[i].user);
		assert_int_equal(host.port, rows[i].port);
	}
}

/* Every default is of its key's kind, and every key says what its default and its meaning are. */
static void test_rows(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c = {.path = ""};
	struct yaml_key *keys;
	size_t count = yaml_keys(cluster_rows, &s->arena, &keys);

	assert_fine(yaml_defaults(cluster_rows, &c, &c, &s->arena, &err));
	for (size_t i = 0; i < count; i++) {
		const struct yaml_row *row = keys[i].row;

		if (!yaml_row_default(row) || (row->value && row->note))
			fail_msg("%s: a value or a note, not both or neither", keys[i].path);
		if (!row->help || strlen(row->help) > 80)
			fail_msg("%s: no help, or longer than 80 letters", keys[i].path);
		if (row->given && row->kind != YAML_ROW_TEXT)
			fail_msg("%s: only a text can be given", keys[i].path);
	}
}

/* Defaults that other keys give, with and without the maps that they stand in. */
static void test_given_defaults(void **state)
{
	struct scratch *s = *state;
	struct cluster c;
	struct host host;

	load(s, "hosts: [a, {address: b}]\nname: lab\nssh: {user: ops}\nimage: {base: x}\n", &c);
	assert_string_equal(c.registry.namespace, "lab");
	assert_string_equal(c.image.name, "lab");
	assert_string_equal(c.hosts[0].user, "ops");
	assert_string_equal(c.hosts[1].user, "ops");
	assert_string_equal(c.hosts[1].name, "b");
	cluster_init(in(s, "none.yaml"), &s->arena, &c);
	assert_string_equal(c.registry.namespace, "ringup");
	assert_string_equal(c.container.sshd_port, "9435");
	assert_int_equal(c.host_count, 0);
	cluster_init_host(&c, &s->arena, &host);
	assert_string_equal(host.user, "root");
	assert_int_equal(host.port, 22);
	assert_string_equal(host.gpus, "");
}

static const char REACH[] =
	"hosts:\n"
	"- {hosts: \"node[01-02]\", user: ops, sudo: true, port: 2222, key: k/ops.pem, jump: none}\n"
	"- {address: 10.0.0.9, name: big}\n"
	"ssh: {key: k/all, jump: gate, sudo: false}\n";

/* How to reach a host: its own entry, then `ssh`; and whether the file says it at all. */
static void test_reach(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;
	const struct host *h;

	assert_fine(cluster_load(put(s, "cluster.yaml", REACH), &s->arena, &c, &err));
	assert_int_equal(c.host_count, 3);
	h = &c.hosts[1];
	assert_string_equal(h->name, "node02");
	assert_string_equal(h->address, "node02");
	assert_string_equal(h->user, "ops");
	assert_string_equal(h->key, "k/ops.pem");
	assert_string_equal(h->jump, "none");
	assert_true(h->sudo && h->user_given && h->port_given && h->key_given && h->jump_given);
	h = &c.hosts[2];
	assert_string_equal(h->user, "root");
	assert_string_equal(h->key, "k/all");
	assert_string_equal(h->jump, "gate");
	assert_true(!h->sudo && !h->user_given && !h->port_given && h->key_given && h->jump_given);
}

static void test_reach_errors(void **state)
{
	static const struct {
		const char *hosts, *part;
	} rows[] = {
		{"[{user: ops}]", "a host needs an 'address', or 'hosts' for several"},
		{"[{hosts: \"n[1-2]\", address: a}]", "either 'address' or 'hosts'"},
		{"[{hosts: \"n[1-2]\", name: a}]", "'name' is for one host"},
		{"[{hosts: [a, b]}]", "a set of names"},
		{"[{hosts: \"n[1-\"}]", "']'"},
		{"[{hosts: \"n[1-2]\"}, n2]", "stands twice"},
	};
	struct scratch *s = *state;
	struct error err = {0};
	struct cluster c;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_fails(
			cluster_load(put(s, "cluster.yaml",
					 arena_printf(&s->arena, "hosts: %s\n", rows[i].hosts)),
				     &s->arena, &c, &err),
			ERROR_USAGE, rows[i].part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_defaults),	   SCRATCH_TEST(test_every_key),
		SCRATCH_TEST(test_json),	   SCRATCH_TEST(test_no_capabilities),
		SCRATCH_TEST(test_errors),	   SCRATCH_TEST(test_missing_file),
		SCRATCH_TEST(test_too_many_hosts), SCRATCH_TEST(test_no_hosts),
		SCRATCH_TEST(test_host_named),	   SCRATCH_TEST(test_reach),
		SCRATCH_TEST(test_reach_errors),   SCRATCH_TEST(test_rows),
		SCRATCH_TEST(test_given_defaults),
	};

	return cmocka_run_group_tests_name("cluster", tests, NULL, NULL);
}
