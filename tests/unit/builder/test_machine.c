/* SPDX-License-Identifier: MIT */
/* The processor of the machine that builds, against the one that the image is for. */
#include "tests/unit/support.h"

#include "builder/machine.h"
#include "core/words.h"
#include "plan/arch.h"

#include <sys/utsname.h>

/* A host whose `uname -m` prints this. */
static struct build_host machine_host(struct scratch *s, const char *prints)
{
	const char *const *reach = WORDS(
		"sh", "-c", arena_printf(&s->arena, "test \"$0\" = 'uname -m' && %s", prints));
	const char **words = ARENA_ARRAY(&s->arena, 4, const char *);

	memcpy(words, reach, 4 * sizeof(*words));
	return (struct build_host){.name = "node7", .reach = words};
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(arch_by_name("arm64"), "aarch64");
	assert_string_equal(arch_by_name("sbsa"), "aarch64");
	assert_string_equal(arch_by_name("aarch64"), "aarch64");
	assert_string_equal(arch_by_name("amd64"), "x86_64");
	assert_null(arch_by_name("ppc64le"));
	assert_null(arch_by_name(""));
	assert_string_equal(arch_of_image("aarch64"), "arm64");
	assert_string_equal(arch_of_image("x86_64"), "amd64");
}

static void test_this_machine(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct utsname uts;
	const char *own, *other;

	assert_int_equal(uname(&uts), 0);
	own = arch_by_name(uts.machine) ? arch_by_name(uts.machine) : ARCH_DEFAULT;
	other = strcmp(own, "aarch64") == 0 ? "x86_64" : "aarch64";
	assert_fine(machine_check(own, NULL, &s->arena, &err));
	assert_fine(machine_check("", NULL, &s->arena, &err));
	assert_fine(machine_check(NULL, NULL, &s->arena, &err));
	assert_fails(machine_check(other, NULL, &s->arena, &err), ERROR_FAILED, other);
	assert_has(err.text, "this machine is");
	assert_has(err.text, "ringup build --on HOST");
}

static void test_another_machine(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct build_host arm = machine_host(s, "echo aarch64"),
			  pc = machine_host(s, "echo x86_64");

	assert_fine(machine_check("aarch64", &arm, &s->arena, &err));
	assert_fine(machine_check("x86_64", &pc, &s->arena, &err));
	assert_fails(machine_check("x86_64", &arm, &s->arena, &err), ERROR_FAILED,
		     "the image is for x86_64, and node7 is aarch64");
	assert_fails(machine_check("aarch64", &pc, &s->arena, &err), ERROR_FAILED,
		     "the image is for aarch64, and node7 is x86_64");
}

/* A stack of the OS's own packages is for the default processor, which has no name on other machines. */
static void test_machine_without_a_name(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct build_host power = machine_host(s, "echo ppc64le");

	assert_fine(machine_check("x86_64", &power, &s->arena, &err));
	assert_fails(machine_check("aarch64", &power, &s->arena, &err), ERROR_FAILED,
		     "node7 is ppc64le");
}

static void test_machine_that_does_not_answer(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct build_host gone = machine_host(s, "{ echo 'no route' >&2; exit 255; }");

	assert_fails(machine_check("aarch64", &gone, &s->arena, &err), ERROR_FAILED, "node7");
	assert_has(err.text, "no route");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		SCRATCH_TEST(test_this_machine),
		SCRATCH_TEST(test_another_machine),
		SCRATCH_TEST(test_machine_without_a_name),
		SCRATCH_TEST(test_machine_that_does_not_answer),
	};

	return cmocka_run_group_tests_name("machine", tests, NULL, NULL);
}
