/* SPDX-License-Identifier: MIT */
/* Engines: what each makes of a wish, how it explains its failures, and which one `auto` is. */
#include "tests/unit/deployer/fleet_support.h"

#include "core/file.h"
#include "core/proc.h"
#include "deployer/engine/engine.h"

#include <sys/stat.h>
#include <unistd.h>

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *run_line_of(struct scratch *s, const char *engine,
			       const struct container_wish *wish)
{
	struct words words = WORDS_INIT(&s->arena);

	engine_find(engine)->run(wish, &words);
	return line_of(s, words.list);
}

static const char *run_line(struct scratch *s, const struct container_wish *wish)
{
	return run_line_of(s, "docker", wish);
}

static const char *task_line(struct scratch *s, const struct container_wish *wish)
{
	struct words words = WORDS_INIT(&s->arena);

	engine_find("docker")->task(wish, &words);
	return line_of(s, words.list);
}

/* Every member of the wish is in the words; what is empty is not. */
static void test_docker_run(void **state)
{
	struct scratch *s = *state;
	struct container_wish wish = container_wish_empty;

	wish.image = "i";
	assert_string_equal(run_line(s, &wish), "docker run --detach i");
	wish.name = "n";
	wish.network = "host";
	wish.ipc = "private";
	wish.shm_size = "1g";
	wish.gpus = "0,1";
	wish.gpu_capabilities = LIST("compute", "utility");
	wish.labels = LIST("l=1");
	wish.env = LIST("A=b c");
	wish.volumes = LIST("/d:/d:ro", "/e:/e");
	wish.limits = LIST("memlock=-1");
	wish.devices = LIST("/dev/infiniband");
	wish.capabilities = LIST("IPC_LOCK");
	wish.privileged = true;
	wish.restarts = true;
	wish.program = "p";
	wish.arguments = LIST("a", "--b");
	assert_string_equal(
		run_line(s, &wish),
		"docker run --detach --restart unless-stopped --name n --network host --ipc private --shm-size 1g --label l=1 '--env=A=b c' --volume /d:/d:ro --volume /e:/e --ulimit memlock=-1 --privileged --device /dev/infiniband --cap-add IPC_LOCK --gpus '\"device=0,1\",\"capabilities=compute,utility\"' --entrypoint p i a --b");
}

/* Podman: GPUs by CDI, no SELinux label, and a restart policy from the start. */
static void test_podman_run(void **state)
{
	struct scratch *s = *state;
	struct container_wish wish = container_wish_empty;

	wish.image = "i";
	assert_string_equal(
		run_line_of(s, "podman", &wish),
		"podman run --detach --pull never --restart always --security-opt label=disable i");
	wish.name = "n";
	wish.network = "host";
	wish.gpus = "0,GPU-5a3c2b1d";
	wish.gpu_capabilities = LIST("compute");
	wish.volumes = LIST("/d:/d:ro");
	wish.limits = LIST("memlock=-1");
	wish.restarts = true;
	wish.program = "p";
	wish.arguments = LIST("a");
	assert_string_equal(
		run_line_of(s, "podman", &wish),
		"podman run --detach --pull never --restart always --security-opt label=disable --name n --network host --volume /d:/d:ro --ulimit memlock=-1 --device=nvidia.com/gpu=0 --device=nvidia.com/gpu=GPU-5a3c2b1d --entrypoint p i a");
	wish.gpus = "all";
	assert_non_null(strstr(run_line_of(s, "podman", &wish), "--device=nvidia.com/gpu=all "));
}

/* The words of a command of Podman's for the container "ringup-lab", as nobody, with only a user's systemd. */
static const char *const *as_user(struct scratch *s, const char *const *pattern)
{
	const struct engine_value values[] = {{"container", "ringup-lab", NULL}, {0}};
	struct words words = WORDS_INIT(&s->arena);

	if (geteuid() == 0)
		words_add_all(&words, WORDS("setpriv", "--reuid", "65534", "--clear-groups"));
	words_addf(&words, "env");
	words_addf(&words, "PATH=%s:/usr/bin:/bin", s->folder);
	words_addf(&words, "HOME=%s", s->folder);
	words_addf(&words, "XDG_CONFIG_HOME=%s/config", s->folder);
	words_addf(&words, "XDG_RUNTIME_DIR=%s", s->folder);
	engine_expand(pattern, values, &words);
	return words_list(&words);
}

/* Without root the container has a unit of the user's systemd, and who may not linger is told. systemctl is a stand-in. */
static void test_podman_keep_of_user(void **state)
{
	struct scratch *s = *state;
	struct proc_result result = {0};
	struct proc proc = {.words = as_user(s, engine_find("podman")->keep)};
	struct error err = {0};
	const char *unit;

	put(s, "systemctl", "#!/bin/sh\necho \"$*\" >>\"$HOME/calls\"\n");
	put(s, "loginctl", "#!/bin/sh\nexit 1\n");
	put(s, "podman", "");
	assert_int_equal(chmod(arena_printf(&s->arena, "%s/systemctl", s->folder), 0755), 0);
	assert_int_equal(chmod(arena_printf(&s->arena, "%s/loginctl", s->folder), 0755), 0);
	assert_int_equal(chmod(arena_printf(&s->arena, "%s/podman", s->folder), 0755), 0);
	assert_int_equal(chmod(s->folder, 0777), 0);
	assert_fine(folder_make(arena_printf(&s->arena, "%s/systemd", s->folder), 0755, &err));
	assert_fine(proc_run(&proc, &result, &err));
	assert_int_equal(result.status, 0);
	assert_has(result.out.text, "note=the container ends with the last login of ");
	assert_has(result.out.text, "loginctl enable-linger ");
	unit = slurp(s,
		     arena_printf(&s->arena, "%s/config/systemd/user/container-ringup-lab.service",
				  s->folder));
	assert_has(unit,
		   arena_printf(&s->arena, "ExecStart=%s/podman start ringup-lab\n", s->folder));
	assert_has(unit, "WantedBy=default.target\n");
	assert_string_equal(slurp(s, arena_printf(&s->arena, "%s/calls", s->folder)),
			    "--user daemon-reload\n"
			    "--user --quiet enable container-ringup-lab.service\n");
	proc_result_release(&result);
}

/* Errors as Podman 4.3.1 prints them. */
static void test_podman_explain(void **state)
{
	static const struct {
		int what;
		const char *said, *advice;
	} rows[] = {
		{ENGINE_PULLS,
		 "Error: initializing source docker://r:5000/a:1: pinging container registry r:5000: Get \"https://r:5000/v2/\": x509: certificate signed by unknown authority",
		 "set registry.ca in cluster.yaml"},
		{ENGINE_PULLS,
		 "Error: initializing source docker://r:5000/a:1: pinging container registry r:5000: Get \"https://r:5000/v2/\": http: server gave HTTP response to HTTPS client",
		 "/etc/containers/registries.conf"},
		{ENGINE_RUNS,
		 "Error: setting up CDI devices: unresolvable CDI devices nvidia.com/gpu=all",
		 "nvidia-ctk cdi generate"},
		{ENGINE_RUNS,
		 "Error: runc: runc create failed: unable to start container process: error during container init: error setting rlimits for ready process: error setting rlimit type 7: operation not permitted: OCI permission denied",
		 "container.ulimits"},
	};
	const struct engine *podman = engine_find("podman");
	const struct engine_attempt attempt = {.registry = "r:5000", .user = "", .data_root = ""};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct engine_attempt one = attempt;
		struct error err = {0};

		one.what = rows[i].what;
		error_set(&err, ERROR_FAILED, "%s", rows[i].said);
		podman->explain(&one, &err);
		assert_non_null(strstr(err.text, rows[i].advice));
	}
}

/* A program that is bound has the named capabilities and can gain no other. */
static void test_docker_bound(void **state)
{
	struct scratch *s = *state;
	struct container_wish wish = container_wish_empty;

	wish.image = "registry:2.8.3";
	wish.network = "host";
	wish.volumes = LIST("/h:/h:ro");
	wish.capabilities = LIST("DAC_OVERRIDE", "NET_BIND_SERVICE");
	wish.is_bound = true;
	wish.program = "registry";
	wish.arguments = LIST("garbage-collect", "/h/config.yml");
	assert_string_equal(
		task_line(s, &wish),
		"docker run --rm --network host --volume /h:/h:ro --cap-drop ALL --cap-add DAC_OVERRIDE --cap-add NET_BIND_SERVICE --security-opt no-new-privileges --entrypoint registry registry:2.8.3 garbage-collect /h/config.yml");
}

/* Errors as Docker's client prints them (recorded, or from the sources that engine_docker.c names). */
static void test_docker_explains(void **state)
{
	static const struct {
		int what;
		const char *said, *advice; /* "": none */
	} rows[] = {
		{ENGINE_PULLS, "tls: failed to verify certificate: x509: unknown authority",
		 "set registry.ca in cluster.yaml"},
		{ENGINE_PULLS, "no basic auth credentials", "ringup login r:5000"},
		{ENGINE_PULLS, "dial tcp 10.0.0.1:5000: connect: connection refused",
		 "can this host reach the registry r:5000?"},
		{ENGINE_PULLS, "write /var/lib/docker/x: no space left on device",
		 "free space under /var/lib/docker"},
		{ENGINE_PULLS,
		 "Get \"https://r:5000/v2/\": http: server gave HTTP response to HTTPS client",
		 "add it to insecure-registries in /etc/docker/daemon.json of the host"},
		{ENGINE_PULLS, "something else", ""},
		{ENGINE_RUNS, "could not select device driver \"\" with capabilities: [[gpu]]",
		 "install nvidia-container-toolkit"},
		{ENGINE_RUNS, "nvidia-container-cli: device error: 7: unknown device",
		 "nvidia-smi -L"},
		{ENGINE_RUNS, "error setting rlimit type 8: operation not permitted",
		 "container.ulimits"},
		{ENGINE_RUNS, "unable to apply caps: operation not permitted", "capabilities"},
		{ENGINE_RUNS, "something else", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct engine_attempt attempt = {.what = rows[i].what,
						       .registry = "r:5000",
						       .user = "",
						       .data_root = "/var/lib/docker"};
		struct error err = {0};

		error_set(&err, ERROR_FAILED, "%s", rows[i].said);
		engine_find("docker")->explain(&attempt, &err);
		assert_has(err.text, rows[i].said);
		if (*rows[i].advice)
			assert_has(err.text, rows[i].advice);
		else
			assert_string_equal(err.text, rows[i].said);
	}
}

/* A record says all that others ask of it, and `auto` goes by rank, not by name. */
static void test_records(void **state)
{
	const struct engine *automatic = engine_find("auto");

	(void)state;
	assert_non_null(automatic);
	assert_string_equal(automatic->name, "docker");
	for (size_t i = 0; engines[i]; i++) {
		const struct engine *e = engines[i];

		assert_true(e->rank < 0 || e == automatic || e->rank > automatic->rank);
		for (size_t j = 0; j < i; j++)
			assert_true(e->rank < 0 || e->rank != engines[j]->rank);
		assert_non_null(e->install);
		assert_non_null(e->with_secret);
		assert_non_null(e->program_folder);
		if (!e->has_containers)
			continue;
		assert_true(*e->install);
		assert_non_null(e->run);
		assert_non_null(e->task);
		assert_non_null(e->is_name_taken);
		assert_non_null(e->is_image_missing);
		assert_non_null(e->explain);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_docker_run),		SCRATCH_TEST(test_docker_bound),
		cmocka_unit_test(test_docker_explains), SCRATCH_TEST(test_podman_run),
		SCRATCH_TEST(test_podman_keep_of_user), cmocka_unit_test(test_podman_explain),
		cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
