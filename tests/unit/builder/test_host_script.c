/* SPDX-License-Identifier: MIT */
/* Sections for an image, as bash for a host. */
#include "tests/unit/support.h"

#include "builder/recipe/host_script.h"

static void test_steps(void **state)
{
	static const struct {
		const char *section, *wanted;
	} cases[] = {
		{"", ""},
		{"RUN make all", "(\n\tmake all\n)\n\n"},
		/* continuations become lines; an argument list stays one command */
		{"RUN set -eu; a; \\\n    b \\\n      c; \\\n    d",
		 "(\n\ta\n\tb \\\n\t  c\n\td\n)\n\n"},
		{"RUN set -eu; \\\n    a; \\\n    ", "(\n\ta\n)\n\n"},
		{"RUN case $x in y) z;; esac; \\\n    b",
		 "(\n\tcase $x in y) z;; esac\n\tb\n)\n\n"},
		{"RUN case $x in \\\n      y) z;; \\\n    esac",
		 "(\n\tcase $x in \\\n\t  y) z;; \\\n\tesac\n)\n\n"},
		/* what only an image has is left out, with its continuations */
		{"ENV A=b \\\n    C=d\nCOPY x y\n# why\nRUN a\nWORKDIR /x", "# why\n(\n\ta\n)\n\n"},
		{"# of the copy, and of the step\nCOPY --from=build /x /y\nRUN a",
		 "# of the copy, and of the step\n(\n\ta\n)\n\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(str_release) struct str out = STR_INIT;

		host_script_add_steps(&out, cases[i].section);
		assert_string_equal(out.text, cases[i].wanted);
	}
}

static void test_lines(void **state)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	(void)state;
	host_script_add_lines(&out, "a; \\\n    b -c \\\n      d\ne");
	assert_string_equal(out.text, "a\nb -c \\\n  d\ne\n");
}

static void test_copy(void **state)
{
	_cleanup_(str_release) struct str out = {0};

	(void)state;
	str_init(&out);
	host_script_add_copy(&out, "files/0", "/workspace", false);
	assert_string_equal(out.text,
			    "mkdir -p /workspace\ncp -R \"$here/files/0/.\" /workspace\n");
	str_release(&out);
	str_init(&out);
	host_script_add_copy(&out, "files/1", "/opt/it's/a.py", true);
	assert_string_equal(
		out.text,
		"install -D --mode=\"$(stat -c %a \"$here/files/1\")\" \"$here/files/1\" '/opt/it'\\''s/a.py'\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
