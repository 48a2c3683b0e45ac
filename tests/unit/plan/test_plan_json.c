/* SPDX-License-Identifier: MIT */
/* Every type that crosses an arrow goes to JSON and comes back the same. */
#include "tests/unit/support.h"

#include "plan/lock.h"
#include "resolver/resolve.h"
#include "resolver/unsatisfied.h"

/* Through text and back, as through a file. */
static cJSON *reread(cJSON *json)
{
	char *text = cJSON_PrintUnformatted(json);
	struct error err = {0};
	cJSON *again = NULL;

	assert_non_null(text);
	cJSON_Delete(json);
	assert_fine(json_parse(text, strlen(text), "test", &again, &err));
	free(text);
	return again;
}

static cJSON *parse(const char *text)
{
	struct error err = {0};
	cJSON *json = NULL;

	assert_fine(json_parse(text, strlen(text), "test", &json, &err));
	return json;
}

static const char PROBE[] =
	"hostname=node01\nos=debian12\nkernel=6.1.0-18-amd64\narch=x86_64\nglibc=2.36\n"
	"gcc=12.2.0\npython=3.11.2\nengine=docker\nengine_version=20.10.24\nengine_error=\n"
	"runtime_gpu=1.14.3\ndriver=525.60.13\ngpus=Tesla V100;Tesla V100\naddress=10.0.0.1\ninterface=eth0\n"
	"interface_cidr=10.0.0.0/24\ninfiniband=mlx5_0;mlx5_1\n"
	"infiniband_ports=mlx5_0 1 ACTIVE InfiniBand 0000:5e:00.0 100 Gb/sec (4X EDR)\n"
	"nics=eth0 25000 0000:3b:00.0\npci_links=0000:17:00.0 gpu 2.5x16 8.0x16 8.0x16\n"
	"gpu_uuids=GPU-1a;GPU-2b\ngpu_parts=0:0 MIG-3c\ngpu_error=none today\nsimulated=2x Tesla V100\nnvlinks=6;6\ninterface_mbit=25000\ndata_root=/var/lib/docker=x\n"
	"cpus=96\nmemory_bytes=540092452864\ndisk_free_bytes=1e12\nclock=1700000010.5\n"
	"future_key=whatever\nno equals sign\n\n";

static double skew(struct scratch *s, const char *clocks, double asked, double answered)
{
	const struct probe_span span = {asked, answered};
	struct facts f;
	struct error err = {0};

	assert_fine(facts_parse("h", arena_printf(&s->arena, "kernel=6.1\n%s", clocks), &span,
				&s->arena, &f, &err));
	return f.clock_skew_seconds;
}

/* A login of 8 s, a probe of 2 s and an answer that takes 1 s are no difference of clocks. */
static void test_clock(void **state)
{
	struct scratch *s = *state;

	assert_true(skew(s, "clock=108\nclock_at_end=110\n", 100, 111) == 0);
	assert_true(skew(s, "clock=108\n", 100, 111) == 0);
	/* an hour ahead, an hour behind: what is certain of it */
	assert_true(skew(s, "clock=3708\nclock_at_end=3710\n", 100, 111) == 3599);
	assert_true(skew(s, "clock=-3492\nclock_at_end=-3490\n", 100, 111) == 0); /* none */
	assert_true(skew(s, "clock=4508\nclock_at_end=4510\n", 8100, 8111) == -3592);
	assert_true(skew(s, "clock=what\n", 100, 111) == 0);
	assert_true(skew(s, "", 100, 111) == 0);
}

static void test_facts(void **state)
{
	const struct probe_span at_once = {1700000000.0, 1700000000.0};
	struct scratch *s = *state;
	struct facts f, again;
	struct error err = {0};
	_cleanup_(json_free) cJSON *json = NULL, *second = NULL;

	assert_fine(facts_parse("lab-1", PROBE, &at_once, &s->arena, &f, &err));
	assert_string_equal(f.host, "lab-1");
	assert_string_equal(f.hostname, "node01");
	assert_string_equal(f.kernel, "6.1.0-18-amd64");
	assert_string_equal(f.engine_error, "");
	assert_string_equal(f.driver, "525.60.13");
	assert_string_equal(f.gpus, "Tesla V100;Tesla V100");
	assert_string_equal(f.data_root, "/var/lib/docker=x");
	assert_int_equal(f.cpus, 96);
	assert_true(f.memory_bytes == 540092452864.0);
	assert_true(f.disk_free_bytes == 1e12);
	assert_true(f.clock_skew_seconds == 10.5);
	json = reread(facts_to_json(&f));
	assert_fine(facts_from_json(json, &s->arena, &again, &err));
	second = facts_to_json(&again);
	assert_true(cJSON_Compare(json, second, true));
	assert_string_equal(again.interface_cidr, "10.0.0.0/24");
	assert_string_equal(again.infiniband_ports,
			    "mlx5_0 1 ACTIVE InfiniBand 0000:5e:00.0 100 Gb/sec (4X EDR)");
	assert_string_equal(again.address, "10.0.0.1");
	assert_string_equal(again.nics, "eth0 25000 0000:3b:00.0");
	assert_string_equal(again.pci_links, "0000:17:00.0 gpu 2.5x16 8.0x16 8.0x16");
	assert_string_equal(again.nvlinks, "6;6");
	assert_int_equal(again.interface_mbit, 25000);
	assert_string_equal(again.gpu_uuids, "GPU-1a;GPU-2b");
	assert_string_equal(again.gpu_parts, "0:0 MIG-3c");
	assert_string_equal(again.gpu_error, "none today");
	assert_string_equal(again.simulated, "2x Tesla V100");
	assert_int_equal(cJSON_GetArraySize(json), 32);
}

static void test_facts_of_a_bare_host(void **state)
{
	struct scratch *s = *state;
	struct facts f;
	struct error err = {0};

	assert_fine(facts_parse("h", "kernel=6.1\n", NULL, &s->arena, &f, &err));
	assert_string_equal(f.driver, "");
	assert_string_equal(f.engine, "");
	assert_string_equal(f.gpus, "");
	assert_int_equal(f.cpus, 0);
	assert_fails(facts_parse("h", "", NULL, &s->arena, &f, &err), ERROR_FAILED, "probe");
	assert_fails(
		facts_parse("h", "This is a switch. Type ? for help.\n", NULL, &s->arena, &f, &err),
		ERROR_FAILED, "POSIX sh");
}

static void test_bad_facts(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {"{}", "[]", "3", "{\"host\": 3}", "null"};
	struct facts f;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(json_free) cJSON *json = parse(bad[i]);

		assert_fails(facts_from_json(json, &s->arena, &f, &err), ERROR_USAGE, "'host'");
	}
	{
		_cleanup_(json_free) cJSON *json =
			parse("{\"host\": \"h\", \"cpus\": 1e300, \"driver\": 5, \"gpus\": null}");

		err = (struct error){0};
		assert_fine(facts_from_json(json, &s->arena, &f, &err));
		assert_string_equal(f.driver, "");
		assert_string_equal(f.gpus, "");
	}
}

static void test_plan(void **state)
{
	struct scratch *s = *state;
	const char *requests[] = {"openmpi==4.1.*", "python"};
	struct plan plan = {.accelerator = "cpu",
			    .revision = "sha256:ab",
			    .request_count = 2,
			    .requests = requests,
			    .count = 2,
			    .choices = {{.name = "os",
					 .version = "debian12",
					 .reason = "the only one",
					 .source = "a;b",
					 .run_packages = "x;y"},
					{.name = "gcc",
					 .version = "12.2.0",
					 .reason = "say \"why\"\n",
					 .source = "c",
					 .run_packages = "",
					 .build_packages = "gcc=4:12"}}};
	struct plan again;
	struct error err = {0};
	_cleanup_(json_free) cJSON *json = reread(plan_to_json(&plan)), *second = NULL;

	assert_true(json_number(json, "schema", 0) == 1);
	assert_true(json_bool(json, "ok", false));
	assert_fine(plan_from_json(json, &s->arena, &again, &err));
	second = plan_to_json(&again);
	assert_true(cJSON_Compare(json, second, true));
	assert_int_equal(again.request_count, 2);
	assert_string_equal(plan_choice(&again, "gcc")->reason, "say \"why\"\n");
	assert_string_equal(plan_choice(&again, "gcc")->build_packages, "gcc=4:12");
	assert_string_equal(plan_choice(&again, "os")->run_packages, "x;y");
	assert_string_equal(plan_choice(&again, "os")->build_packages, "");
}

/* What a person has overruled, and what the stack breaks of it; each rule once. */
static void test_overruled(void **state)
{
	struct scratch *s = *state;
	struct plan plan = {.accelerator = "cuda",
			    .revision = "sha256:ab",
			    .allow_count = 2,
			    .allow = {"driver-cuda", "gpu-wheel"},
			    .count = 1,
			    .choices = {{.name = "os",
					 .version = "debian12",
					 .reason = "r",
					 .source = "s",
					 .run_packages = "p"}}};
	_cleanup_(json_free) cJSON *json = NULL, *second = NULL;
	struct error err = {0};
	struct plan again;

	assert_true(plan_overrule(&plan, "driver-cuda", "CUDA 12 needs a newer driver", "a;b"));
	assert_false(plan_overrule(&plan, "driver-cuda", "said before", ""));
	json = reread(plan_to_json(&plan));
	assert_fine(plan_from_json(json, &s->arena, &again, &err));
	second = plan_to_json(&again);
	assert_true(cJSON_Compare(json, second, true));
	assert_int_equal(again.allow_count, 2);
	assert_int_equal(again.overruled_count, 1);
	assert_string_equal(again.overruled[0].because, "CUDA 12 needs a newer driver");
	assert_true(plan_breaks(&again, "driver-cuda"));
	assert_false(plan_breaks(&again, "gpu-wheel"));
}

/* Several stacks are one document; each is what a plan is read from. */
static void test_stacks(void **state)
{
	struct scratch *s = *state;
	struct plan plan = {.accelerator = "cpu",
			    .revision = "sha256:ab",
			    .count = 1,
			    .choices = {{.name = "os", .version = "debian12", .run_packages = ""}}};
	_cleanup_(json_free) cJSON *json = stacks_to_json();
	struct error err = {0};
	const cJSON *list;
	struct plan again;

	stacks_add_plan(json, &plan);
	plan.choices[0].version = "debian11";
	stacks_add_plan(json, &plan);
	json = reread(json);
	list = json_member(json, "stacks");
	assert_true(json_number(json, "schema", 0) == 1);
	assert_true(json_bool(json, "ok", false));
	assert_int_equal(cJSON_GetArraySize(list), 2);
	assert_null(json_member(cJSON_GetArrayItem(list, 1), "schema"));
	assert_fine(plan_from_json(cJSON_GetArrayItem(list, 1), &s->arena, &again, &err));
	assert_string_equal(again.choices[0].version, "debian11");
}

static void test_bad_plans(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {
		"{}",
		"[]",
		"3",
		"{\"stack\": {}}",
		"{\"requests\": [\"openmpi\"], \"stack\": {}}",
		"{\"stack\": 5}",
		"{\"stack\": [{}]}",
		"{\"stack\": [{\"version\": \"1\"}]}",
		"{\"stack\": {\"os\": {}}}",
		"{\"stack\": {\"os\": {\"version\": 3}}}",
		"{\"stack\": {\"os\": \"debian12\"}}",
	};
	struct plan plan;
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(json_free) cJSON *json = parse(bad[i]);

		assert_fails(plan_from_json(json, &s->arena, &plan, &err), ERROR_USAGE, "plan");
	}
}

/* What ringup.lock has of a cluster with `stack: []`. */
static void test_plan_without_stack(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = parse("{\"requests\": [], \"stack\": {}}");
	struct plan plan;
	struct error err = {0};

	assert_fine(plan_from_json(json, &s->arena, &plan, &err));
	assert_int_equal(plan.count, 0);
}

/* A name that is no component, and one that is there twice, as a bad merge leaves it. */
static void test_plan_of_other_names(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	cJSON *stack = cJSON_AddObjectToObject(json, "stack");
	struct plan plan;
	struct error err = {0};

	for (int i = 0; i < 2; i++)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(stack, "openmpi"), "version", "1");
	assert_fails(plan_from_json(json, &s->arena, &plan, &err), ERROR_USAGE, "openmpi twice");
	cJSON_DeleteItemFromObject(stack, "openmpi");
	cJSON_AddStringToObject(cJSON_AddObjectToObject(stack, "opnmpi"), "version", "1");
	assert_fails(plan_from_json(json, &s->arena, &plan, &err), ERROR_USAGE, "'opnmpi'");
}

#define DIGEST "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* The processor is in the text only where it is not the default, and no other text is one. */
static void test_processor(void **state)
{
	struct scratch *s = *state;
	struct plan arm = {
		.accelerator = "cuda",
		.arch = "aarch64",
		.revision = "r",
		.requests = (const char *[]){NULL},
		.count = 1,
		.choices = {{"os", "debian12", "", "", "", "", "", "", "", "", "", "", ""}}};
	struct plan pc = arm, read, again;
	struct lock_change changes[LOCK_CHANGES_MAX];
	struct error err = {0};
	_cleanup_(json_free) cJSON *json = reread(plan_to_json(&arm)), *plain = NULL, *bad = NULL;

	assert_string_equal(json_member(json, "arch")->valuestring, "aarch64");
	assert_fine(plan_from_json(json, &s->arena, &read, &err));
	assert_string_equal(plan_arch(&read), "aarch64");
	pc.arch = NULL;
	plain = reread(plan_to_json(&pc));
	assert_null(json_member(plain, "arch"));
	assert_fine(plan_from_json(plain, &s->arena, &pc, &err));
	assert_string_equal(plan_arch(&pc), "x86_64");
	bad = parse("{\"arch\": \"riscv64\"}");
	assert_fails(plan_from_json(bad, &s->arena, &again, &err), ERROR_USAGE, "riscv64");

	assert_false(lock_is_same(&read, &pc));
	assert_int_equal(lock_diff(&read, &pc, changes), 1);
	assert_string_equal(changes[0].name, "arch");
	assert_string_equal(changes[0].from, "aarch64");
	assert_string_equal(changes[0].to, "x86_64");
}

static void test_pinned(void **state)
{
	struct scratch *s = *state;
	struct pin packages[] = {{"openssh-server", "1:9.2p1-2+deb12u7"}, {"devtoolset-7", ""}};
	struct pin images[] = {{"docker.io/library/centos:7", DIGEST}};
	struct pinned pinned = {"2026-11-22T13:00:00Z", {2, packages}, {1, images}}, again;
	struct error err = {0};
	_cleanup_(json_free) cJSON *json = reread(pinned_to_json(&pinned)), *second = NULL;

	assert_fine(pinned_from_json(json, &s->arena, &again, &err));
	assert_string_equal(again.at, pinned.at);
	assert_string_equal(pin_find(&again.packages, "openssh-server"), "1:9.2p1-2+deb12u7");
	assert_string_equal(pin_find(&again.packages, "devtoolset-7"), "");
	assert_string_equal(pin_find(&again.images, "docker.io/library/centos:7"), DIGEST);
	assert_null(pin_find(&again.packages, "tar"));
	second = pinned_to_json(&again);
	assert_true(cJSON_Compare(json, second, true));
	assert_fine(pinned_from_json(NULL, &s->arena, &again, &err));
	assert_null(again.at);
	assert_null(pinned_to_json(&again));
}

/* The values stand in commands of a RUN. */
static void test_pinned_badly(void **state)
{
	static const char *const bad[] = {
		"3",
		"[]",
		"{}",
		"{\"at\": \"\"}",
		"{\"at\": \"2026 ; rm\"}",
		"{\"at\": \"2026\"}",
		"{\"at\": \"::::-::-::T::::::Z\"}",
		"{\"at\": \"2026-11-22T13:00:00Zx\"}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": 1}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"1; rm -rf /\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"1\\nRUN x\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"$(x)\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"-1\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"1\", \"a\": \"2\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": [\"1\"]}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": \"abc\"}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"1:\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \":\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"packages\": {\"a\": \"~1\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"images\": {\"a\": \"1.2\"}}",
		"{\"at\": \"2026-11-22T13:00:00Z\", \"images\": {\"a\": \"sha256:AB\"}}",
	};
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		_cleanup_(json_free) cJSON *json = parse(bad[i]);
		struct error err = {0};
		struct pinned pinned;

		assert_fails(pinned_from_json(json, &s->arena, &pinned, &err), ERROR_USAGE,
			     "pinned");
	}
}

static void test_unsatisfied(void **state)
{
	struct unsatisfied why = {.count = 1,
				  .conflicts = {{"openmpi>=6", "the newest is 5", "src"}},
				  .suggestion_count = 1,
				  .suggestions = {"openmpi==5"}};
	_cleanup_(json_free) cJSON *json = reread(unsatisfied_to_json(&why));
	const cJSON *conflict = cJSON_GetArrayItem(json_member(json, "conflict"), 0);

	(void)state;
	assert_true(json_number(json, "schema", 0) == 1);
	assert_false(json_bool(json, "ok", true));
	assert_string_equal(json_member(conflict, "request")->valuestring, "openmpi>=6");
	assert_string_equal(json_member(conflict, "because")->valuestring, "the newest is 5");
	assert_string_equal(json_member(conflict, "source")->valuestring, "src");
	assert_string_equal(cJSON_GetArrayItem(json_member(json, "suggestions"), 0)->valuestring,
			    "openmpi==5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_facts),
		SCRATCH_TEST(test_facts_of_a_bare_host),
		SCRATCH_TEST(test_clock),
		SCRATCH_TEST(test_bad_facts),
		SCRATCH_TEST(test_plan),
		SCRATCH_TEST(test_overruled),
		SCRATCH_TEST(test_stacks),
		SCRATCH_TEST(test_bad_plans),
		SCRATCH_TEST(test_plan_without_stack),
		SCRATCH_TEST(test_bad_plans),
		SCRATCH_TEST(test_plan_of_other_names),
		SCRATCH_TEST(test_pinned),
		SCRATCH_TEST(test_pinned_badly),
		SCRATCH_TEST(test_processor),
		SCRATCH_TEST(test_unsatisfied),
	};

	return cmocka_run_group_tests_name("plan_json", tests, NULL, NULL);
}
