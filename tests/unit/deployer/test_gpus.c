/* SPDX-License-Identifier: MIT */
/* The GPUs that hosts give: which hosts cannot, with the cause and the way out, and how many ranks there are. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/container/gpus.h"
#include "deployer/launcher/launcher.h"

#define DOCKER "container: {engine: docker}\n"
#define NONE "container: {engine: none}\n"

struct gpus_case {
	const char *hosts;
	const char *container;
	const char *gpus, *uuids, *gpu_error, *toolkit;
	const char *says; /* NULL: the host is fine */
	int slots;
};

#define TWO "T4;T4", "GPU-aaaa;GPU-bbbb", ""

static const struct gpus_case cases[] = {
	{"hosts: [a]\n", DOCKER, TWO, "1.14.6", NULL, 2},
	{"hosts: [a]\n", NONE, TWO, "", NULL, 2},
	{"hosts: [a]\n", DOCKER, "", "", "", "", NULL, 1},
	{"hosts: [a]\n", DOCKER, TWO, "", "a: NVIDIA's container toolkit is missing there", 2},
	{"hosts: [{address: a, gpus: none}]\n", DOCKER, TWO, "", NULL, 1},
	{"hosts: [{address: a, gpus: 1}]\n", DOCKER, TWO, "1.14.6", NULL, 1},
	{"hosts: [{address: a, gpus: 4}]\n", DOCKER, TWO, "1.14.6", "a: 4 GPUs are asked for", 2},
	{"hosts: [{address: a, gpus: device=1}]\n", DOCKER, TWO, "1.14.6", NULL, 1},
	{"hosts: [{address: a, gpus: GPU-bbbb}]\n", NONE, TWO, "", NULL, 1},
	{"hosts: [{address: a, gpus: GPU-cccc}]\n", NONE, TWO, "", "a: the GPU GPU-cccc is asked",
	 1},
	{"hosts: [{address: a, gpus: \"9,10\"}]\n", DOCKER, TWO, "1.14.6", "a: the GPU 9 is asked",
	 1},
	{"hosts: [{address: a, gpus: 1, slots: 6}]\n", DOCKER, TWO, "1.14.6", NULL, 6},
	{"hosts: [a]\n", DOCKER, "", "", "nvidia-smi ends with status 9: no", "1.14.6",
	 "a: its GPUs cannot be used: nvidia-smi ends with status 9: no; mend the driver", 1},
	{"hosts: [a]\n", NONE, "", "", "nvidia-smi ends with status 9: no", "",
	 "a: its GPUs cannot be used", 1},
	{"hosts: [{address: a, gpus: none}]\n", DOCKER, "", "", "broken", "", NULL, 1},
};

static struct fleet *gpus_fleet(struct scratch *s, const struct gpus_case *c)
{
	struct fleet *fleet =
		make_fleet(s, arena_printf(&s->arena, "%s%s", c->hosts, c->container));
	struct facts *f = &fleet->members[0].facts;

	f->gpus = c->gpus;
	f->gpu_uuids = c->uuids;
	f->gpu_error = c->gpu_error;
	f->runtime_gpu = c->toolkit;
	return fleet;
}

static void test_check(void **state)
{
	struct scratch *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fleet *fleet = gpus_fleet(s, &cases[i]);
		const struct member *m = &fleet->members[0];

		fleet_check_gpus(fleet, "cpu");
		assert_false(m->failed);
		fleet_check_gpus(fleet, "cuda");
		if (m->failed != (cases[i].says != NULL))
			fail_msg("case %zu: %s", i, m->failed ? m->err.text : "must fail");
		if (cases[i].says)
			assert_has(m->err.text, cases[i].says);
	}
}

/* Podman gives GPUs by CDI; what the probe saw of its files is enough to know. */
static void test_podman_needs_a_cdi_file(void **state)
{
	struct scratch *s = *state;
	const struct gpus_case c = {
		"hosts: [a]\n", "container: {engine: podman}\n", TWO, "1.14.6", NULL, 2};

	for (int has_cdi = 0; has_cdi < 2; has_cdi++) {
		struct fleet *fleet = gpus_fleet(s, &c);
		struct member *m = &fleet->members[0];

		m->state.can.has_cdi = has_cdi;
		fleet_check_gpus(fleet, "cuda");
		assert_int_equal(m->failed, !has_cdi);
		if (m->failed)
			assert_has(m->err.text, "a: no CDI file there names its GPUs, so podman");
	}
}

static void test_slots(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(member_slots(&gpus_fleet(*state, &cases[i])->members[0]),
				 cases[i].slots);
}

static void test_lost(void **state)
{
	struct scratch *s = *state;
	const struct facts before = {.gpus = "H100;T4;T4", .gpu_uuids = "GPU-a;GPU-b;GPU-c"};
	const struct facts cases_now[] = {
		{.gpus = "H100;T4;T4", .gpu_uuids = "GPU-a;GPU-b;GPU-c"},
		{.gpus = "T4;T4;H100", .gpu_uuids = "GPU-c;GPU-b;GPU-a"},
		{.gpus = "T4", .gpu_uuids = "GPU-b"},
		{.gpus = "", .gpu_uuids = ""},
	};
	static const char *const lost[] = {"", "", "GPU 0 (H100, GPU-a), GPU 2 (T4, GPU-c)", ""};

	for (size_t i = 0; i < ARRAY_LEN(cases_now); i++)
		assert_string_equal(gpus_lost(&before, &cases_now[i], &s->arena), lost[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_check),
		FLEET_TEST(test_podman_needs_a_cdi_file),
		FLEET_TEST(test_slots),
		FLEET_TEST(test_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
