/* SPDX-License-Identifier: MIT */
/* One consistent stack out of tests/golden/catalog, and why there is none. */
#include "tests/unit/support.h"

#include "core/words.h"
#include "resolver/resolve.h"

struct resolved {
	struct catalog catalog;
	struct plan plan;
	struct unsatisfied why;
	struct error err;
	int rc;
};

static void run(struct scratch *s, struct resolve_input input, struct resolved *r)
{
	const char *folder = arena_printf(&s->arena, "%s/tests/golden/catalog", source_root(s));
	struct error err = {0};

	*r = (struct resolved){0};
	assert_fine(catalog_load(folder, &s->arena, &r->catalog, &err));
	if (!input.accelerator)
		input.accelerator = "auto";
	r->rc = resolve(&r->catalog, &input, &s->arena, &r->plan, &r->why, &r->err);
}

static const char *version(const struct resolved *r, const char *name)
{
	const struct choice *choice = plan_choice(&r->plan, name);

	return choice ? choice->version : "(none)";
}

static void test_newest_wins(void **state)
{
	struct resolved r;

	run(*state, (struct resolve_input){.requests = WORDS(NULL)}, &r);
	assert_int_equal(r.rc, 0);
	assert_string_equal(version(&r, "os"), "debian12");
	assert_string_equal(version(&r, "openmpi"), "5.0.1");
	assert_string_equal(version(&r, "python"), "3.11.2");
	assert_string_equal(version(&r, "gcc"), "12.2.0");
	assert_string_equal(version(&r, "glibc"), "2.36");
	assert_string_equal(r.plan.accelerator, "cpu");
	assert_string_equal(r.plan.revision, r.catalog.revision);
	assert_int_equal(r.plan.request_count, 0);
	assert_null(plan_choice(&r.plan, "cuda"));
}

static void test_requests(void **state)
{
	static const struct {
		const char *request, *openmpi;
	} cases[] = {
		{"openmpi==4.1.4", "4.1.4"},  {"openmpi==4.1.*", "4.1.10"},
		{"openmpi<5", "4.1.10"},      {"openmpi>=4,<4.1.10", "4.1.4"},
		{"openmpi!=5.0.1", "4.1.10"}, {"openmpi~=4.1.0", "4.1.10"},
		{"openmpi<4", "3.1.6"},	      {"openmpi", "5.0.1"},
		{"os==debian11", "4.1.0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct resolved r;

		run(*state, (struct resolve_input){.requests = WORDS(cases[i].request)}, &r);
		if (r.rc < 0)
			fail_msg("%s: %s", cases[i].request, r.err.text);
		assert_string_equal(version(&r, "openmpi"), cases[i].openmpi);
		assert_int_equal(r.plan.request_count, 1);
		assert_string_equal(r.plan.requests[0], cases[i].request);
	}
}

/* The OS is chosen first, and the rest is what there is for it. */
static void test_os_decides(void **state)
{
	struct resolved r;

	run(*state, (struct resolve_input){.requests = WORDS("os==debian11", "python")}, &r);
	assert_int_equal(r.rc, 0);
	assert_string_equal(version(&r, "os"), "debian11");
	assert_string_equal(version(&r, "python"), "3.9.2");
	assert_string_equal(version(&r, "gcc"), "10.2.1");
	assert_string_equal(plan_choice(&r.plan, "gcc")->build_packages, "gcc=10.2.1");
	assert_string_equal(plan_choice(&r.plan, "openmpi")->run_packages, "openmpi-bin=4.1.0");
}

static void test_two_requests_for_one_name(void **state)
{
	struct resolved r;

	run(*state, (struct resolve_input){.requests = WORDS("openmpi>=4", "openmpi<4.1.10")}, &r);
	assert_int_equal(r.rc, 0);
	assert_string_equal(version(&r, "openmpi"), "4.1.4");
}

static void test_reasons(void **state)
{
	struct resolved r;
	const struct choice *mpi;

	run(*state, (struct resolve_input){.requests = WORDS("openmpi==4.1.4")}, &r);
	mpi = plan_choice(&r.plan, "openmpi");
	assert_has(mpi->reason, "'openmpi==4.1.4'");
	assert_has(mpi->reason, "debian12");
	assert_string_equal(mpi->source, "test;other");
	for (size_t i = 0; i < r.plan.count; i++) {
		assert_true(*r.plan.choices[i].reason);
		assert_true(*r.plan.choices[i].source);
	}
	run(*state, (struct resolve_input){.requests = WORDS("openmpi<5")}, &r);
	assert_has(plan_choice(&r.plan, "openmpi")->reason, "newest");
}

static void test_unsatisfied(void **state)
{
	struct resolved r;

	run(*state, (struct resolve_input){.requests = WORDS("openmpi>=6", "python")}, &r);
	assert_int_equal(r.rc, -1);
	assert_int_equal(r.err.kind, ERROR_UNSATISFIED);
	assert_int_equal(r.why.count, 1);
	assert_string_equal(r.why.conflicts[0].request, "openmpi>=6");
	assert_has(r.why.conflicts[0].because, "5.0.1");
	assert_string_equal(r.why.conflicts[0].source, "test");
	assert_int_equal(r.why.suggestion_count, 1);
	assert_has(r.why.suggestions[0], "openmpi==5.0.1");
	assert_has(r.err.text, "openmpi>=6");
	assert_has(r.err.text, "this would work: openmpi==5.0.1");
}

/* What is suggested must work, with the other requests as they are. */
static void check_suggestion(struct scratch *s, const char *first, const char *second,
			     const char *refused)
{
	const char *instead = NULL; /* the request that the suggestion takes the place of */
	struct resolved r, again;
	struct words words = WORDS_INIT(&s->arena);

	run(s, (struct resolve_input){.requests = WORDS(first, second)}, &r);
	assert_int_equal(r.rc, -1);
	assert_int_equal(r.err.kind, ERROR_UNSATISFIED);
	assert_true(r.why.suggestion_count > 0);
	for (size_t i = 0; i < r.why.suggestion_count && !instead; i++)
		if (strncmp(r.why.suggestions[i], refused, strcspn(refused, "=<>")) == 0)
			instead = r.why.suggestions[i];
	assert_non_null(instead);
	words_add(&words, instead);
	if (strcmp(first, refused) != 0)
		words_add(&words, first);
	if (strcmp(second, refused) != 0)
		words_add(&words, second);
	run(s, (struct resolve_input){.requests = words.list}, &again);
	if (again.rc < 0)
		fail_msg("the suggestion %s does not work: %s", instead, again.err.text);
}

static void test_suggestions_work(void **state)
{
	check_suggestion(*state, "os==debian11", "python==3.11.2", "python==3.11.2");
	check_suggestion(*state, "openmpi>=4", "openmpi==4.1.5", "openmpi==4.1.5");
	check_suggestion(*state, "openmpi<5", "openmpi==4.1.5", "openmpi==4.1.5");
	check_suggestion(*state, "os==debian13", "python", "os==debian13");
}

static void test_usage(void **state)
{
	static const struct {
		const char *request, *says;
	} cases[] = {
		{"opnmpi==4", "did you mean 'openmpi'?"},
		{"pyton", "did you mean 'python'?"},
		{"kubernetes", "'kubernetes'"},
		{"openmpi=4", "is not a requirement"},
		{"", "is not a requirement"},
		{"tensorflw", "did you mean 'tensorflow'?"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct resolved r;

		run(*state, (struct resolve_input){.requests = WORDS("os", cases[i].request)}, &r);
		assert_int_equal(r.rc, -1);
		assert_int_equal(r.err.kind, ERROR_USAGE);
		assert_has(r.err.text, cases[i].says);
	}
}

/* tests/golden/catalog has no CUDA: a GPU request is refused, never silently made a CPU stack. */
static void test_cuda_is_never_silently_cpu(void **state)
{
	static const char *const requests[] = {"cuda==12.1", "nccl", "gpu==V100", "cudnn",
					       "driver>=450"};
	struct facts host = {.host = "node07", .driver = "525.60.13", .gpus = "A100"};
	struct resolved r;

	run(*state, (struct resolve_input){.requests = WORDS(NULL), .accelerator = "cuda"}, &r);
	assert_int_equal(r.err.kind, ERROR_UNSATISFIED);
	assert_has(r.err.text, "cuda");
	run(*state,
	    (struct resolve_input){.requests = WORDS(NULL), .facts = &host, .fact_count = 1}, &r);
	assert_int_equal(r.err.kind, ERROR_UNSATISFIED);
	assert_has(r.err.text, "node07");
	assert_has(r.err.text, "525.60.13");
	assert_has(r.err.text, "accelerator: cpu");
	for (size_t i = 0; i < ARRAY_LEN(requests); i++) {
		run(*state, (struct resolve_input){.requests = WORDS(requests[i])}, &r);
		assert_int_equal(r.err.kind, ERROR_UNSATISFIED);
		assert_has(r.err.text, requests[i]);
	}
}

/* Who says cpu gets it, GPUs or not. */
static void test_cpu_on_gpu_hosts(void **state)
{
	struct facts hosts[] = {{.host = "a", .driver = ""}, {.host = "b", .driver = "525.60.13"}};
	struct resolved r;

	run(*state,
	    (struct resolve_input){
		    .requests = WORDS(NULL), .accelerator = "cpu", .facts = hosts, .fact_count = 2},
	    &r);
	assert_int_equal(r.rc, 0);
	assert_string_equal(r.plan.accelerator, "cpu");
	run(*state,
	    (struct resolve_input){.requests = WORDS(NULL), .facts = hosts, .fact_count = 1}, &r);
	assert_int_equal(r.rc, 0);
}

static void test_missing_table(void **state)
{
	struct scratch *s = *state;
	struct catalog catalog;
	struct resolve_input input = {.requests = WORDS(NULL), .accelerator = "cpu"};
	struct plan plan;
	struct unsatisfied why;
	struct error err = {0};

	put(s, "c/os.csv",
	    "version,os,run_packages,build_packages,note,certainty,source\nx,,,,n,documented,s\n");
	assert_fine(catalog_load(in(s, "c"), &s->arena, &catalog, &err));
	assert_fails(resolve(&catalog, &input, &s->arena, &plan, &why, &err), ERROR_UNSATISFIED,
		     "no glibc.csv");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_newest_wins),
		SCRATCH_TEST(test_requests),
		SCRATCH_TEST(test_os_decides),
		SCRATCH_TEST(test_two_requests_for_one_name),
		SCRATCH_TEST(test_reasons),
		SCRATCH_TEST(test_unsatisfied),
		SCRATCH_TEST(test_suggestions_work),
		SCRATCH_TEST(test_usage),
		SCRATCH_TEST(test_cuda_is_never_silently_cpu),
		SCRATCH_TEST(test_cpu_on_gpu_hosts),
		SCRATCH_TEST(test_missing_table),
	};

	return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
