/* SPDX-License-Identifier: MIT */
/* WWW-Authenticate headers as registries really send them. */
#include "registry-client/login/challenge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct parsed {
	struct arena arena;
	struct challenge list[4];
	size_t count;
};

static void parse(struct parsed *p, const char *value)
{
	*p = (struct parsed){.arena = ARENA_INIT};
	challenge_parse(value, &p->arena, p->list, ARRAY_LEN(p->list), &p->count);
}

static void test_docker_hub(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p,
	      "Bearer realm=\"https://auth.docker.io/token\",service=\"registry.docker.io\",scope=\"repository:lab/train:pull,push\"");
	assert_int_equal(p.count, 1);
	assert_string_equal(p.list[0].scheme, "Bearer");
	assert_string_equal(p.list[0].realm, "https://auth.docker.io/token");
	assert_string_equal(p.list[0].service, "registry.docker.io");
	assert_string_equal(p.list[0].scope, "repository:lab/train:pull,push");
	arena_release(&p.arena);
}

static void test_several_in_one_header(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p,
	      "Negotiate YWJj==, Basic realm=\"a, b\" , BEARER  Realm = \"https://x/t\" , error=insufficient_scope");
	assert_int_equal(p.count, 3);
	assert_string_equal(p.list[0].scheme, "Negotiate");
	assert_string_equal(p.list[1].scheme, "Basic");
	assert_string_equal(p.list[1].realm, "a, b");
	assert_string_equal(p.list[2].scheme, "BEARER");
	assert_string_equal(p.list[2].realm, "https://x/t");
	assert_string_equal(p.list[2].error, "insufficient_scope");
	assert_null(p.list[2].scope);
	arena_release(&p.arena);
}

static void test_escapes(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "Basic realm=\"the \\\"lab\\\" \\\\ one\"");
	assert_int_equal(p.count, 1);
	assert_string_equal(p.list[0].realm, "the \"lab\" \\ one");
	arena_release(&p.arena);
}

static void test_rubbish_does_not_hurt(void **state)
{
	static const char *const rubbish[] = {"",
					      ",,, ,",
					      "\"\"",
					      "realm=\"x\"",
					      "Bearer realm=",
					      "Bearer realm=\"open",
					      "= = =",
					      "Basic \\",
					      "B r=\"\\"};
	struct parsed p;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rubbish); i++) {
		parse(&p, rubbish[i]);
		assert_true(p.count <= 2);
		arena_release(&p.arena);
	}
	parse(&p, "a, b, c, d, e, f, g, h");
	assert_int_equal(p.count, 4);
	arena_release(&p.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_docker_hub),
		cmocka_unit_test(test_several_in_one_header),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_rubbish_does_not_hurt),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
