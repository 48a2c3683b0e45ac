/* SPDX-License-Identifier: MIT */
/* One lock for hosts of two processors: the versions of both, what differs, and the way through ringup.lock. */
#include "tests/unit/support.h"

#include "core/words.h"
#include "plan/lock.h"
#include "resolver/platforms.h"

#include <string.h>

static const char *const platforms_both[] = {"linux/amd64", "linux/arm64", NULL};

struct both {
	struct catalog catalog;
	struct plan plan;
	struct unsatisfied why;
	struct error err;
	int rc;
};

static void both_run(struct scratch *s, const char *const *requests, const char *arch,
		     struct both *both)
{
	const char *folder = arena_printf(&s->arena, "%s/recipes/catalog", source_root(s));
	struct resolve_input input = {.requests = requests,
				      .accelerator = "auto",
				      .arch = arch,
				      .platforms = platforms_both};
	struct error err = {0};

	*both = (struct both){0};
	assert_fine(catalog_load(folder, &s->arena, &both->catalog, &err));
	both->rc = resolve_platforms(&both->catalog, &input, &s->arena, &both->plan, &both->why,
				     &both->err);
}

static const char *both_version(const struct plan *plan, const char *name)
{
	const struct choice *choice = plan_choice(plan, name);

	return choice ? choice->version : "(none)";
}

/* Ranks of both processors talk to each other, so all that takes part has one version. */
static void test_one_set_of_versions(void **state)
{
	static const char *const same[] = {"torch", "cuda", "nccl", "openmpi", "python", "os"};
	const struct plan *other;
	struct both both;

	both_run(*state, WORDS("torch"), NULL, &both);
	assert_int_equal(both.rc, 0);
	other = both.plan.other;
	assert_non_null(other);
	assert_string_equal(plan_arch(&both.plan), "x86_64");
	assert_string_equal(plan_arch(other), "aarch64");
	assert_null(other->other);
	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		assert_string_equal(both_version(&both.plan, same[i]),
				    both_version(other, same[i]));
}

/* --arch takes one of the two. */
static void test_one_of_two(void **state)
{
	struct both both;

	both_run(*state, WORDS("torch"), "aarch64", &both);
	assert_int_equal(both.rc, 0);
	assert_null(both.plan.other);
	assert_string_equal(plan_arch(&both.plan), "aarch64");
}

/* MXNet has no wheel for aarch64. */
static void test_what_one_processor_lacks(void **state)
{
	struct both both;

	both_run(*state, WORDS("mxnet"), NULL, &both);
	assert_int_equal(both.rc, -1);
	assert_int_equal(both.err.kind, ERROR_UNSATISFIED);
	assert_non_null(strstr(both.err.text, "aarch64"));
}

/* The lock has both, and a second write says that nothing changed. */
static void test_lock_keeps_both(void **state)
{
	struct scratch *s = *state;
	const char *path = in(s, "ringup.lock");
	struct error err = {0};
	struct lock lock;
	struct both both;
	bool found;

	both_run(s, WORDS("torch"), NULL, &both);
	assert_int_equal(both.rc, 0);
	assert_fine(lock_write(path, &both.plan, NULL, NULL, &err));
	assert_fine(lock_read(path, &s->arena, &lock, &found, &err));
	assert_true(found);
	assert_non_null(lock.plan.other);
	assert_string_equal(plan_arch(lock.plan.other), "aarch64");
	assert_true(lock_is_same(&lock.plan, &both.plan));
	for (size_t i = 0; i < both.plan.other->count; i++) {
		const struct choice *made = &both.plan.other->choices[i];
		const struct choice *kept = plan_choice(lock.plan.other, made->name);

		assert_non_null(kept);
		assert_string_equal(kept->version, made->version);
		assert_string_equal(kept->run_packages, made->run_packages);
		assert_string_equal(kept->sha256, made->sha256);
	}
}

/* A processor that goes is a change with its name; a package of the other one only makes the lock another. */
static void test_what_a_lock_shows(void **state)
{
	struct lock_change changes[LOCK_CHANGES_MAX];
	struct plan alone, other, changed;
	struct both both;

	both_run(*state, WORDS("torch"), NULL, &both);
	assert_int_equal(both.rc, 0);
	alone = changed = both.plan;
	alone.other = NULL;
	assert_int_equal(lock_diff(&both.plan, &alone, changes), 1);
	assert_string_equal(changes[0].name, "arch");
	assert_string_equal(changes[0].from, "aarch64");
	assert_null(changes[0].to);
	assert_int_equal(lock_diff(&alone, &both.plan, changes), 1);
	assert_string_equal(changes[0].to, "aarch64");
	assert_false(lock_is_same(&both.plan, &alone));

	other = *both.plan.other;
	other.choices[0].pip = "another";
	changed.other = &other;
	assert_false(lock_is_same(&both.plan, &changed));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_one_set_of_versions),	     SCRATCH_TEST(test_one_of_two),
		SCRATCH_TEST(test_what_one_processor_lacks), SCRATCH_TEST(test_lock_keeps_both),
		SCRATCH_TEST(test_what_a_lock_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
