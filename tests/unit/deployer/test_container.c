/* SPDX-License-Identifier: MIT */
/* Engine records, and one host's container as words. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/container/container.h"

#define IMAGE "10.0.0.1:5000/lab/train@sha256:0123"

static void test_expand(void **state)
{
	struct scratch *s = *state;
	static const char *const none[] = {NULL}, *const list[] = {"1", "@{a}", "", NULL};
	static const char *const pattern[] = {"@{a}",  "x@{a}y@{b}", "@none",	 "@list",
					      "plain", "a@b",	     "@{empty}", NULL};
	const struct engine_value values[] = {
		{"a", "A B", NULL},   {"b", "@{a}", NULL},  {"empty", "", NULL},
		{"none", NULL, none}, {"list", NULL, list}, {NULL, NULL, NULL},
	};
	static const char *const wanted[] = {"A B",   "xA By@{a}", "1", "@{a}", "",
					     "plain", "a@b",	   "",	NULL};
	struct words out = WORDS_INIT(&s->arena);

	engine_expand(pattern, values, &out);
	for (size_t i = 0; wanted[i]; i++)
		assert_string_equal(out.list[i], wanted[i]);
	assert_int_equal(out.count, ARRAY_LEN(wanted) - 1);
}

static void test_find(void **state)
{
	(void)state;
	for (size_t i = 0; engines[i]; i++)
		assert_ptr_equal(engine_find(engines[i]->name), engines[i]);
	assert_non_null(engine_find("docker"));
	assert_non_null(engine_find("none"));
	assert_null(engine_find("Docker"));
}

/* One member's run words for this file. */
static const char *const *run_words(struct scratch *s, const char *yaml, size_t index,
				    const struct bringup *bringup, struct container *container)
{
	struct member *m = &make_fleet(s, yaml)->members[index];

	m->facts.gpus = "V100;V100;V100";
	container_describe(m, bringup, container);
	return container_run_words(m, container);
}

static const struct bringup cpu = {
	.image = IMAGE, .accelerator = "cpu", .registry = "10.0.0.1:5000"};
static const struct bringup cuda = {
	.image = IMAGE, .accelerator = "cuda", .registry = "10.0.0.1:5000"};

static void test_docker_words(void **state)
{
	struct scratch *s = *state;
	struct container c;
	const char *const *words = run_words(
		s,
		"name: lab\nhosts: [a]\ncontainer: {engine: docker, shm_size: 1g, volumes: [\"/data:/data:ro\"], env: {NCCL_DEBUG: WARN, X: \"a b\"}, ulimits: {memlock: -1}}\n",
		0, &cpu, &c);

	assert_string_equal(
		line_of(s, words),
		arena_printf(
			&s->arena,
			"docker run --detach --name ringup-lab --network host --ipc private --shm-size 1g --label org.ringup.cluster=lab --label org.ringup.config=%s --label 'org.ringup.settings=%s' --env=RINGUP_HOST=a --env=NCCL_SOCKET_IFNAME==eth0 --env=NCCL_DEBUG=WARN '--env=X=a b' --volume /var/lib/ringup/lab/ssh:/etc/ringup/ssh:ro --volume /data:/data:ro --ulimit memlock=-1 " IMAGE,
			c.config_hash, c.settings));
	assert_true(starts_with(c.settings,
				"shm_size=1g network=host gpus=- privileged=no sshd=a:9435 "));
}

/* Nothing is privileged or shared unless the file asks for it. */
static void test_safe_by_default(void **state)
{
	struct scratch *s = *state;
	struct container c;
	const char *const *words =
		run_words(s, "hosts: [a]\ncontainer: {engine: docker}\n", 0, &cuda, &c);

	assert_int_equal(count_word(words, "--privileged"), 0);
	assert_lacks(line_of(s, words), "/root/.ssh");
	assert_lacks(line_of(s, words), "--cap-add");
	words = run_words(s, "hosts: [a]\ncontainer: {engine: docker, privileged: true}\n", 0, &cpu,
			  &c);
	assert_int_equal(count_word(words, "--privileged"), 1);
	assert_null(word_after(words, "--gpus"));
}

/* Docker's --gpus takes one CSV word with quotes of its own inside. */
static const struct {
	const char *yaml;
	size_t member;
	const char *gpus; /* NULL: no --gpus at all */
} gpu_cases[] = {
	{"hosts: [a]\ncontainer: {engine: docker}\n", 0, "all,\"capabilities=compute,utility\""},
	{"hosts: [a]\ncontainer: {engine: docker, gpus: \"0,1\"}\n", 0,
	 "\"device=0,1\",\"capabilities=compute,utility\""},
	{"hosts: [a, {address: b, gpus: device=2}]\ncontainer: {engine: docker, gpus: all}\n", 1,
	 "\"device=2\",\"capabilities=compute,utility\""},
	{"hosts: [a]\ncontainer: {engine: docker, gpus: 2, capabilities: []}\n", 0,
	 "\"device=0,1\""},
	{"hosts: [a]\ncontainer: {engine: docker, gpus: \"2, 0\", capabilities: []}\n", 0,
	 "\"device=2,0\""},
	{"hosts: [a]\ncontainer: {engine: docker, gpus: GPU-5c89852c, capabilities: []}\n", 0,
	 "\"device=GPU-5c89852c\""},
	{"hosts: [{address: b, gpus: all}]\ncontainer: {engine: docker, gpus: device=0}\n", 0,
	 "all,\"capabilities=compute,utility\""},
	{"hosts: [a]\ncontainer: {engine: docker, capabilities: [compute]}\n", 0,
	 "all,\"capabilities=compute\""},
	{"hosts: [a]\ncontainer: {engine: docker, capabilities: []}\n", 0, "all"},
	{"hosts: [a]\ncontainer: {engine: docker, gpus: none}\n", 0, NULL},
	{"hosts: [{address: b, gpus: none}]\ncontainer: {engine: docker}\n", 0, NULL},
};

static bool has_word(const char *const *words, const char *word)
{
	while (*words && strcmp(*words, word) != 0)
		words++;
	return *words;
}

static void test_gpus(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(gpu_cases); i++) {
		struct container c;
		const char *const *words =
			run_words(*state, gpu_cases[i].yaml, gpu_cases[i].member, &cuda, &c);

		/* an image must not take GPUs where NVIDIA's runtime is Docker's default */
		assert_int_equal(has_word(words, "--env=NVIDIA_VISIBLE_DEVICES=void"),
				 !gpu_cases[i].gpus);
		if (!gpu_cases[i].gpus)
			assert_null(word_after(words, "--gpus"));
		else
			assert_string_equal(word_after(words, "--gpus"), gpu_cases[i].gpus);
	}
}

#define BASE "name: lab\nhosts: [a]\ncontainer: {engine: docker"

static const char *hash_of(struct scratch *s, const char *yaml, const struct bringup *bringup)
{
	struct container c;

	run_words(s, yaml, 0, bringup, &c);
	return c.config_hash;
}

/* The same wish gives the same hash; each change of what runs gives another. */
static void test_config_hash(void **state)
{
	struct scratch *s = *state;
	static const struct bringup other_image = {
		.image = IMAGE "4", .accelerator = "cpu", .registry = "10.0.0.1:5000"};
	const char *hashes[] = {
		hash_of(s, BASE "}\n", &cpu),
		hash_of(s, BASE "}\n", &cuda),
		hash_of(s, BASE "}\n", &other_image),
		hash_of(s, BASE ", shm_size: 1g}\n", &cpu),
		hash_of(s, BASE ", env: {A: b}}\n", &cpu),
		hash_of(s, BASE ", env: {A: \"b --privileged\"}}\n", &cpu),
		hash_of(s, BASE ", volumes: [\"/a:/a\"]}\n", &cpu),
		hash_of(s, BASE ", volumes: [\"/a:/b\"]}\n", &cpu),
		hash_of(s, BASE ", privileged: true}\n", &cpu),
		hash_of(s, BASE ", interface: eth7}\n", &cpu),
		hash_of(s, BASE ", ulimits: {memlock: 1}}\n", &cpu),
		hash_of(s, BASE ", gpus: device=0}\n", &cuda),
		hash_of(s, BASE ", sshd_port: 9436}\n", &cpu),
		hash_of(s,
			"name: lab\nhosts: [{name: a, address: 10.9.9.9}]\ncontainer: {engine: docker}\n",
			&cpu),
		hash_of(s, "name: lac\nhosts: [a]\ncontainer: {engine: docker}\n", &cpu),
		hash_of(s, "name: lab\nhosts: [b]\ncontainer: {engine: docker}\n", &cpu),
	};

	assert_string_equal(hashes[0], hash_of(s, BASE "}\n", &cpu));
	assert_int_equal(strlen(hashes[0]), 16);
	/* what does not run in the container does not restart it */
	assert_string_equal(hashes[0], hash_of(s, BASE "}\nmirrors: {apt: \"http://x\"}\n", &cpu));
	/* running containers learn of another host by a file, so they go on (keys.h) */
	assert_string_equal(
		hashes[0],
		hash_of(s,
			"name: lab\nhosts: [a, {address: 10.0.0.2, name: b}]\ncontainer: {engine: docker}\n",
			&cpu));
	for (size_t i = 0; i < ARRAY_LEN(hashes); i++)
		for (size_t j = 0; j < i; j++)
			if (strcmp(hashes[i], hashes[j]) == 0)
				fail_msg("wishes %zu and %zu have the same hash", i, j);
}

static void test_interface_of_the_person(void **state)
{
	struct scratch *s = *state;
	struct container c;
	const char *const *words = run_words(
		s, "hosts: [a]\ncontainer: {engine: docker, env: {NCCL_SOCKET_IFNAME: ib0}}\n", 0,
		&cpu, &c);

	assert_int_equal(count_word(words, "--env=NCCL_SOCKET_IFNAME=ib0"), 1);
	assert_int_equal(count_word(words, "--env=NCCL_SOCKET_IFNAME==eth0"), 0);
}

static void test_other_records(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, "name: lab\nhosts: [a]\ncontainer: {engine: docker}\n");
	struct container c;
	struct bringup bringup = cpu;
	struct member *m;

	bringup.registry_ca = "PEM";
	bringup.credentials = (struct credentials){.user = "u", .password = {"hush-hush"}};
	m = &fleet->members[0];
	container_describe(m, &bringup, &c);
	assert_string_equal(c.ca_path, "/etc/docker/certs.d/10.0.0.1:5000/ca.crt");
	assert_string_equal(line_of(s, container_words(m, &c, m->engine->pull)),
			    "docker --config /var/lib/ringup/lab/login pull --quiet " IMAGE);
	assert_string_equal(line_of(s, container_words(m, &c, m->engine->remove)),
			    "docker rm --force --volumes ringup-lab");
	assert_string_equal(line_of(s, container_words(m, &c, m->engine->logs)),
			    "docker logs --tail 20 ringup-lab");
	assert_lacks(line_of(s, container_run_words(m, &c)), "hush-hush");
	/* a container gets its restart policy when it has proved itself, not at its start */
	assert_lacks(line_of(s, container_run_words(m, &c)), "--restart");
	m->state.container_id = "4711";
	assert_false(member_lacks_keep(m));
	m->state.running = true;
	assert_true(member_lacks_keep(m));
	assert_string_equal(line_of(s, container_keep_words(m)),
			    "docker update --restart unless-stopped 4711");
	m->state.restarts = true;
	assert_false(member_lacks_keep(m));
}

/* What container_changes says of the first host, whose container was made by `before`. */
static const char *changes_of(struct scratch *s, const char *before, const char *image,
			      const char *now)
{
	struct fleet *old = make_fleet(s, before), *fleet = make_fleet(s, now);
	struct words words = WORDS_INIT(&s->arena);
	struct bringup bringup = cpu;
	struct container c;

	bringup.image = image;
	container_describe(&old->members[0], &bringup, &c);
	fleet->members[0].state.container_id = "4711";
	fleet->members[0].state.config = c.config_hash;
	fleet->members[0].state.image = image;
	fleet->members[0].state.settings = c.settings;
	container_describe(&fleet->members[0], &cpu, &c);
	container_changes(&fleet->members[0], &c, &words);
	return words_join(&words, ", ");
}

static void test_changes(void **state)
{
	struct scratch *s = *state;
	const char *first = "10.0.0.1:5000/lab/train@sha256:"
			    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct fleet *fleet;
	struct container c;

	assert_string_equal(changes_of(s, BASE "}\n", IMAGE, BASE "}\n"), "");
	assert_true(starts_with(changes_of(s, BASE "}\n", first, BASE "}\n"),
				"image 0123456789ab -> "));
	assert_string_equal(changes_of(s, BASE ", shm_size: 1g}\n", IMAGE,
				       BASE ", shm_size: 2g, env: {A: hush-hush}}\n"),
			    "container.shm_size 1g -> 2g, container.env");
	assert_string_equal(changes_of(s, BASE ", sshd_port: 9430}\n", IMAGE,
				       BASE ", sshd_port: 9431, volumes: [\"/a:/a\"]}\n"),
			    "container.volumes, its sshd a:9430 -> a:9431");
	/* the label's values are not in the hash, and an older container has none */
	fleet = make_fleet(s, BASE ", env: {A: hush-hush}}\n");
	container_describe(&fleet->members[0], &cpu, &c);
	assert_null(strstr(c.settings, "hush-hush"));
	fleet->members[0].state.image = IMAGE;
	fleet->members[0].state.config = "0123456789abcdef";
	{
		struct words words = WORDS_INIT(&s->arena);

		container_changes(&fleet->members[0], &c, &words);
		assert_string_equal(words_join(&words, ", "), "its configuration");
	}
}

/* A setting of one host makes that host's container anew, and no other. */
static void test_one_host(void **state)
{
	struct scratch *s = *state;
	struct fleet *before =
		make_fleet(s, "name: lab\nhosts: [a, b]\ncontainer: {engine: docker}\n");
	struct fleet *now = make_fleet(
		s,
		"name: lab\nhosts: [a, {address: b, gpus: none, slots: 3}]\ncontainer: {engine: docker}\n");
	struct container x, y;

	for (size_t i = 0; i < 2; i++) {
		before->members[i].facts.gpus = now->members[i].facts.gpus = "H100;H100";
		container_describe(&before->members[i], &cuda, &x);
		container_describe(&now->members[i], &cuda, &y);
		assert_int_equal(strcmp(x.config_hash, y.config_hash) != 0, i == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_expand),
		cmocka_unit_test(test_find),
		FLEET_TEST(test_docker_words),
		FLEET_TEST(test_safe_by_default),
		FLEET_TEST(test_gpus),
		FLEET_TEST(test_config_hash),
		FLEET_TEST(test_interface_of_the_person),
		FLEET_TEST(test_other_records),
		FLEET_TEST(test_changes),
		FLEET_TEST(test_one_host),
	};

	return cmocka_run_group_tests_name("container", tests, NULL, NULL);
}
