/* SPDX-License-Identifier: MIT */
/* The error object: set, wrap, advise, and what is cut when a text is too long. */
#include "tests/unit/support.h"

#include <errno.h>

static void test_set(void **state)
{
	struct error err = {0};

	(void)state;
	assert_int_equal(error_set(&err, ERROR_USAGE, "%s:%d: bad", "a.yaml", 3), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	assert_string_equal(err.text, "a.yaml:3: bad");
	assert_int_equal(error_set(&err, ERROR_PARTIAL, "later"), -1);
	assert_int_equal(err.kind, ERROR_PARTIAL);
	assert_string_equal(err.text, "later");
}

/* The kinds are the exit statuses that README.md lists. */
static void test_kinds_are_exit_statuses(void **state)
{
	(void)state;
	assert_int_equal(ERROR_NONE, 0);
	assert_int_equal(ERROR_FAILED, 1);
	assert_int_equal(ERROR_USAGE, 2);
	assert_int_equal(ERROR_UNSATISFIED, 3);
	assert_int_equal(ERROR_PARTIAL, 4);
	assert_int_equal(ERROR_VERDICT, 5);
	assert_int_equal(ERROR_INTERRUPTED, 130);
}

static void test_errno(void **state)
{
	struct error err = {0};

	(void)state;
	errno = ENOENT;
	assert_int_equal(error_errno(&err, "cannot read %s", "x"), -1);
	assert_int_equal(err.kind, ERROR_FAILED);
	assert_string_equal(err.text, "cannot read x: No such file or directory");
}

static void test_wrap_and_advise(void **state)
{
	struct error err = {0};

	(void)state;
	error_set(&err, ERROR_UNSATISFIED, "registry answered %d", 507);
	assert_int_equal(error_wrap(&err, "blob %s", "sha256:1f"), -1);
	assert_int_equal(error_wrap(&err, "push lab/train"), -1);
	assert_int_equal(error_advise(&err, "free space on %s", "r1"), -1);
	assert_string_equal(
		err.text,
		"push lab/train: blob sha256:1f: registry answered 507; free space on r1");
	assert_int_equal(err.kind, ERROR_UNSATISFIED);
}

static void test_percent_signs_are_text(void **state)
{
	struct error err = {0};

	(void)state;
	error_set(&err, ERROR_FAILED, "%s", "100%s %n full");
	error_wrap(&err, "%s", "disk %d");
	error_advise(&err, "%s", "%x");
	assert_string_equal(err.text, "disk %d: 100%s %n full; %x");
}

static void test_long_texts_are_cut(void **state)
{
	struct error err = {0};
	char big[4000];

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	error_set(&err, ERROR_FAILED, "%s", big);
	assert_int_equal(strlen(err.text), sizeof(err.text) - 1);
	error_wrap(&err, "context %s", "c");
	assert_int_equal(strncmp(err.text, "context c: xxxx", 15), 0);
	assert_true(strlen(err.text) < sizeof(err.text));
	error_wrap(&err, "%s", big);
	assert_true(strlen(err.text) < sizeof(err.text));
	for (int i = 0; i < 100; i++)
		error_advise(&err, "%s", "more and more advice, until nothing fits any longer");
	assert_true(strlen(err.text) < sizeof(err.text));
	errno = EIO;
	error_errno(&err, "%s", big);
	assert_has(err.text, ": Input/output error");
}

/* A file that is bad is a bad input file; a disk that is full is not. */
static void test_of_input(void **state)
{
	static const struct {
		int system;
		enum error_kind kind;
	} cases[] = {{ENOENT, ERROR_USAGE},
		     {EISDIR, ERROR_USAGE},
		     {ENOSPC, ERROR_FAILED},
		     {EIO, ERROR_FAILED},
		     {ENOMEM, ERROR_FAILED}};
	struct error err = {0};

	(void)state;
	error_set(&err, ERROR_FAILED, "x");
	assert_int_equal(error_of_input(&err), -1);
	assert_int_equal(err.kind, ERROR_USAGE);
	error_set(&err, ERROR_INTERRUPTED, "x");
	error_of_input(&err);
	assert_int_equal(err.kind, ERROR_INTERRUPTED);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		errno = cases[i].system;
		error_errno(&err, "x");
		error_of_input(&err);
		assert_int_equal(err.kind, cases[i].kind);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_kinds_are_exit_statuses),
		cmocka_unit_test(test_errno),
		cmocka_unit_test(test_wrap_and_advise),
		cmocka_unit_test(test_percent_signs_are_text),
		cmocka_unit_test(test_long_texts_are_cut),
		cmocka_unit_test(test_of_input),
	};

	return cmocka_run_group_tests_name("error", tests, NULL, NULL);
}
