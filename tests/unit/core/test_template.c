/* SPDX-License-Identifier: MIT */
/* ${name} in text. */
#include "tests/unit/support.h"

#include "core/template.h"

static const struct template_value values[] = {
	{"os", "debian12"}, {"os_long", "Debian 12"}, {"empty", ""}, {"odd", "${os} $${ $x"}, {0}};

static void test_expand(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {
		{"", ""},
		{"plain", "plain"},
		{"FROM ${os}", "FROM debian12"},
		{"${os}${os_long}${empty}.", "debian12Debian 12."},
		{"${odd}", "${os} $${ $x"},
		{"$${os}", "${os}"},
		{"$$${os}", "$${os}"},
		{"$HOME $(id) $1 $", "$HOME $(id) $1 $"},
		{"a\n${os}\n", "a\ndebian12\n"},
		{"}{${os}}", "}{debian12}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(str_release) struct str out = STR_INIT;
		struct error err = {0};

		assert_fine(template_expand("f", 1, cases[i].text, values, &out, &err));
		assert_string_equal(out.text, cases[i].wanted);
	}
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *what;
	} cases[] = {
		{"${none}", "r.recipe:10: nothing is known as 'none'"},
		{"a\nb\n${o}", "r.recipe:12: nothing is known as 'o'"},
		{"${os}\n${os_}", "r.recipe:11: nothing is known as 'os_'"},
		{"${}", "r.recipe:10: nothing is known as ''"},
		{"\n\n\n${os", "r.recipe:13: '${' without '}'"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(str_release) struct str out = STR_INIT;
		struct error err = {0};

		assert_fails(template_expand("r.recipe", 10, cases[i].text, values, &out, &err),
			     ERROR_USAGE, cases[i].what);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_expand),
		cmocka_unit_test(test_bad),
	};

	return cmocka_run_group_tests_name("template", tests, NULL, NULL);
}
