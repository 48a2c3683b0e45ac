/* SPDX-License-Identifier: MIT */
/* What engines allow, by what they said (tests/cases/engines), and what becomes of a container there. */
#include "tests/unit/deployer/fleet_support.h"

#include "core/str.h"
#include "deployer/container/allowed.h"
#include "deployer/remote.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static const char *outcome_of(struct scratch *s, const char *text)
{
	struct abilities *can = ARENA_NEW(&s->arena, struct abilities);
	struct container_wish wish = container_wish_empty;
	struct words words = WORDS_INIT(&s->arena), left_out = WORDS_INIT(&s->arena);
	_cleanup_(str_release) struct str out = STR_INIT;

	abilities_parse(text, &s->arena, can);
	wish.image = "i";
	wish.can = can;
	wish.memory = "64g";
	wish.cpus = "8";
	wish.gpus = "0,1";
	wish.gpu_capabilities = LIST("compute", "utility");
	wish.limits = LIST("memlock=-1", "nofile=1048576:1048576", "stack=67108864");
	wish.privileged = true;
	wish.devices = LIST("/dev/infiniband");
	wish.capabilities = LIST("IPC_LOCK");
	abilities_trim(can, &wish, &left_out);
	engine_find(remote_value(text, "engine", &s->arena))->run(&wish, &words);
	str_addf(&out, "%s\n", line_of(s, words.list));
	for (size_t i = 0; i < left_out.count; i += 2)
		str_addf(&out, "%s: %s\n", left_out.list[i], left_out.list[i + 1]);
	return arena_strdup(&s->arena, out.text);
}

static void test_cases(void **state)
{
	struct scratch *s = *state;
	const char **names,
		*folder = arena_printf(&s->arena, "%s/tests/cases/engines", source_root(s));
	struct error err = {0};
	size_t count = 0;

	assert_fine(folder_list(folder, ".txt", &s->arena, &names, &err));
	for (; names[count]; count++) {
		char *text = arena_strdup(&s->arena, slurp(s, arena_printf(&s->arena, "%s/%s",
									   folder, names[count])));
		char *wanted = strstr(text, "\n---\n");

		assert_non_null(wanted);
		*wanted = '\0';
		assert_string_equal(outcome_of(s, text), wanted + strlen("\n---\n"));
	}
	assert_true(count >= 6);
}

/* Of an engine that says nothing all is asked, as it may allow it. */
static void test_unknown(void **state)
{
	struct scratch *s = *state;

	assert_string_equal(
		outcome_of(s, "engine=docker\n"),
		"docker run --detach --memory 64g --cpus 8 --ulimit memlock=-1 --ulimit nofile=1048576:1048576 --ulimit stack=67108864 --privileged --device /dev/infiniband --cap-add IPC_LOCK --gpus '\"device=0,1\",\"capabilities=compute,utility\"' i\n");
}

/* A folder on a host that is no folder of absolute path would become part of a command there. */
static void test_hostile(void **state)
{
	struct scratch *s = *state;
	struct abilities can;

	abilities_parse(
		"can_trust_folder=../../etc\ncan_last_capability=4000\ncan_capabilities=zz\n",
		&s->arena, &can);
	assert_string_equal(can.trust_folder, "");
	/* a limit that is no number is none */
	assert_null(strstr(outcome_of(s, "engine=docker\ncan_limits=memlock:\033[31m1;nofile:\n"),
			   "\n"
			   "memlock"));
	assert_int_equal(can.last_capability, 0);
	assert_false(can.knows_capability);
	abilities_parse("can_trust_folder=/home/../etc\n", &s->arena, &can);
	assert_string_equal(can.trust_folder, "");
}

#define HOSTS "hosts: [a, b]\ncontainer: {engine: docker, ulimits: {memlock: -1}"

/* What is left out is no failure, unless the file requires it: then it is one of that host alone. */
static void test_required(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, HOSTS "}\n");

	fleet->members[1].state.can.limits = "memlock:65536";
	fleet_check_allowed(fleet, "cpu");
	assert_int_equal(fleet_failures(fleet), 0);
	fleet = make_fleet(s, HOSTS ", required: [memlock]}\n");
	fleet->members[1].state.can.limits = "memlock:65536";
	fleet_check_allowed(fleet, "cpu");
	assert_false(fleet->members[0].failed);
	assert_true(fleet->members[1].failed);
	assert_has(
		fleet->members[1].err.text,
		"b: its containers cannot have the limit memlock=-1: the engine there can set at most 65536");
	assert_has(fleet->members[1].err.text, "container.required");
}

/* Before anything is pulled: the host, and what makes the files. */
static void test_required_rdma(void **state)
{
	struct scratch *s = *state;
	struct fleet *fleet = make_fleet(s, HOSTS ", required: [rdma]}\n");

	for (size_t i = 0; i < 2; i++)
		fleet->members[i].facts.infiniband = "mlx5_0";
	fleet->members[1].state.can.lacks_rdma_files = true;
	fleet_check_allowed(fleet, "cpu");
	assert_false(fleet->members[0].failed);
	assert_true(fleet->members[1].failed);
	assert_has(fleet->members[1].err.text, "b: its containers cannot have /dev/infiniband: ");
	assert_has(fleet->members[1].err.text, "modprobe ib_uverbs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_cases),	SCRATCH_TEST(test_unknown),
		SCRATCH_TEST(test_hostile),	FLEET_TEST(test_required),
		FLEET_TEST(test_required_rdma),
	};

	return cmocka_run_group_tests_name("abilities", tests, NULL, NULL);
}
