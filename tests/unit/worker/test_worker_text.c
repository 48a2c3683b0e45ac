/* SPDX-License-Identifier: MIT */
/* Text of other ranks: what may be printed. And the secret: what is taken as one, and that it goes. */
#include "tests/unit/support.h"

#define failure_set worker_failure_set /* another folder has one, too */
#include "images/worker/failure.c"
#include "images/worker/net/hmac.c"
#include "images/worker/secret.c"
#include "images/worker/text.c"

static void test_plain(void **state)
{
	static const struct {
		char text[12];
		const char *tidy; /* NULL: it is plain */
	} rows[] = {
		{"", NULL},
		{"host-1.a", NULL},
		{"b\xc3\xbcro \xe2\x82\xac", NULL},
		{"\xc3\x9b", NULL},
		{"a\x1b[2J", "a?[2J"},
		{"a\tb\n\r\x7f", "a?b???"},
		{"a\x9b"
		 "2J",
		 "a?2J"},
		{"a\xc2\x9b"
		 "2J",
		 "a\xc2?2J"},
		{"\x80\x80", "??"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[sizeof(rows[i].text)];

		memcpy(text, rows[i].text, sizeof(text));
		assert_int_equal(text_is_plain(text, sizeof(text)), rows[i].tidy == NULL);
		text_tidy(text, sizeof(text));
		assert_string_equal(text, rows[i].tidy ? rows[i].tidy : rows[i].text);
		assert_true(text_is_plain(text, sizeof(text)));
	}
}

static void test_no_end(void **state)
{
	char text[4] = {'a', 'b', 'c', 'd'};

	(void)state;
	assert_false(text_is_plain(text, sizeof(text)));
	text_tidy(text, sizeof(text));
	assert_string_equal(text, "abc");
}

static void test_failure(void **state)
{
	struct failure failure = {.status = 99, .phase = -5, .rank = -7};

	(void)state;
	memset(failure.host, 0x1b, sizeof(failure.host));
	memset(failure.reason, 'x', sizeof(failure.reason));
	failure_tidy(&failure);
	assert_int_equal(failure.status, STATUS_LOST);
	assert_int_equal(failure.phase, PHASE_RUN);
	assert_int_equal(failure.rank, -1);
	assert_true(text_is_plain(failure.host, sizeof(failure.host)));
	assert_true(text_is_plain(failure.reason, sizeof(failure.reason)));
}

static void test_secret(void **state)
{
	char text[SECRET_BYTES + 1];
	struct secret secret = {{0}}, none = {{0}};

	(void)state;
	memset(text, 's', sizeof(text));
	assert_false(secret_is_set(&secret));
	assert_int_equal(secret_length(&secret), 0);
	assert_int_equal(secret_set(&secret, text, 0), -1);
	assert_int_equal(secret_set(&secret, "a\0b", 3), -1);
	assert_int_equal(secret_set(&secret, text, SECRET_BYTES), -1);
	assert_false(secret_is_set(&secret));
	assert_int_equal(secret_set(&secret, text, SECRET_BYTES - 1), 0);
	assert_int_equal(secret_length(&secret), SECRET_BYTES - 1);
	assert_int_equal(secret_set(&secret, "short", 5), 0);
	assert_int_equal(secret_length(&secret), 5);
	secret_forget(&secret);
	assert_memory_equal(&secret, &none, sizeof(none));
}

/* prctl(2): 0 means no core dump and no tracing. */
static void test_guard(void **state)
{
	(void)state;
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
	secret_unguard();
	assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
	secret_guard();
	secret_guard();
	assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
	secret_unguard();
	assert_int_equal(prctl(PR_GET_DUMPABLE), 1);
	/* who was not dumpable before stays so */
	assert_int_equal(prctl(PR_SET_DUMPABLE, 0), 0);
	secret_guard();
	secret_unguard();
	assert_int_equal(prctl(PR_GET_DUMPABLE), 0);
	assert_int_equal(prctl(PR_SET_DUMPABLE, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),	cmocka_unit_test(test_no_end),
		cmocka_unit_test(test_failure), cmocka_unit_test(test_secret),
		cmocka_unit_test(test_guard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
