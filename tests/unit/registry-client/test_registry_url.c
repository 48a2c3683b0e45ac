/* SPDX-License-Identifier: MIT */
/* Joining a Location, adding a digest, origins, and Retry-After. */
#include "registry-client/limits.h"
#include "registry-client/http/retry.h"
#include "registry-client/http/url.h"
#include "registry-client/http/warning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void check_join(const char *base, const char *location, const char *expected)
{
	_cleanup_(str_release) struct str url = STR_INIT;
	struct error err = {0};

	if (expected) {
		assert_int_equal(url_join(base, location, &url, &err), 0);
		assert_string_equal(url.text, expected);
	} else {
		assert_int_equal(url_join(base, location, &url, &err), -1);
		assert_true(err.text[0]);
	}
}

static void test_join(void **state)
{
	static const char base[] = "https://r:5000/v2/lab/train/blobs/uploads/";

	(void)state;
	check_join(base, "/v2/up/1?_state=a%2Bb%3D&x=1",
		   "https://r:5000/v2/up/1?_state=a%2Bb%3D&x=1");
	check_join(base, "https://store.example/u?sig=A%2fb#frag",
		   "https://store.example/u?sig=A%2fb");
	check_join(base, "7f?_state=x", "https://r:5000/v2/lab/train/blobs/uploads/7f?_state=x");
	check_join(base, "../u/7f", "https://r:5000/v2/lab/train/blobs/u/7f");
	check_join("http://r:5000/v2/", "http://r:5000/x", "http://r:5000/x");
	check_join("https://[::1]:5000/v2/", "/x", "https://[::1]:5000/x");
}

static void test_join_keeps_https_on_the_same_host(void **state)
{
	(void)state;
	check_join("https://r:5000/v2/", "http://r:5000/up?a=b", "https://r:5000/up?a=b");
	check_join("https://r:5000/v2/", "http://r:50001/up", NULL);
	check_join("https://r/v2/", "http://r.evil.example/up", NULL);
}

static void test_join_refuses(void **state)
{
	(void)state;
	check_join("https://r/v2/", "ftp://r/x", NULL);
	check_join("https://r/v2/", "file:///etc/passwd", NULL);
	check_join("https://r/v2/", "https://user:pw@r/x", NULL);
	check_join("https://r/v2/", "https://user@r/x", NULL);
	check_join("https://r/v2/", "http://", NULL);
}

static void test_add_query(void **state)
{
	_cleanup_(str_release) struct str url = STR_INIT;

	(void)state;
	str_add(&url, "https://r/u");
	url_add_query(&url, "digest", "sha256:ab");
	assert_string_equal(url.text, "https://r/u?digest=sha256%3Aab");
	url_add_query(&url, "scope", "repository:a/b:pull,push");
	assert_string_equal(
		url.text, "https://r/u?digest=sha256%3Aab&scope=repository%3Aa%2Fb%3Apull%2Cpush");
	url_for_people("https://r/u?_state=key", &url);
	assert_string_equal(url.text, "https://r/u");
}

static void test_origins(void **state)
{
	(void)state;
	assert_true(url_same_origin("https://R:443/a", "https://r/b?c"));
	assert_false(url_same_origin("https://r:5000/", "https://r:5001/"));
	assert_false(url_same_origin("https://r/", "http://r/"));
	assert_false(url_same_origin("https://r/", "https://r.evil/"));
	assert_false(url_same_origin("https://r/", "https://r@evil/"));
	assert_true(url_same_host("https://r:5000/", "http://r:9/token"));
	assert_false(url_same_host("https://r/", "rubbish"));
}

static void test_exceptions(void **state)
{
	static const struct {
		const char *url, *no_proxy;
		bool is_excepted;
	} rows[] = {
		{"http://registry.lab:5000/v2/", "registry.lab:5000", true},
		{"http://registry.lab:5000/v2/", "localhost, REGISTRY.lab:5000 ,x", true},
		{"http://registry.lab:5000/v2/", "lab:5000", true},
		{"http://registry.lab:5000/v2/", ".lab:5000", true},
		{"http://registry.lab:5000/v2/", "*.lab:5000", true},
		{"http://registry.lab:5000/v2/", "registry.lab:5001", false},
		{"http://registry.lab:5000/v2/", "ab:5000,try.lab:5000", false},
		{"http://registry.lab:5000/v2/", "5000,:5000,*,.,,", false},
		{"http://registry.lab:5000/v2/", "a.registry.lab:5000", false},
		{"https://registry.lab/v2/", "registry.lab:443", true},
		{"https://registry.lab/v2/", "registry.lab:80", false},
		{"https://10.0.0.5:5000/v2/", "10.0.0.5:5000", true},
		{"https://[fd00::1]:5000/v2/", "[fd00::1]:5000", true},
		{"https://registry.lab/v2/", "", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (url_is_excepted(rows[i].url, rows[i].no_proxy) != rows[i].is_excepted)
			fail_msg("%s, %s", rows[i].url, rows[i].no_proxy);
}

static void test_retry_after(void **state)
{
	const time_t now = 1445412480; /* Wed, 21 Oct 2015 07:28:00 GMT */
	uint64_t usec = 0;

	(void)state;
	assert_true(retry_after_usec("7", now, &usec));
	assert_int_equal(usec, 7000000);
	assert_true(retry_after_usec("Wed, 21 Oct 2015 07:28:30 GMT", now, &usec));
	assert_int_equal(usec, 30000000);
	assert_true(retry_after_usec("Wed, 21 Oct 2015 07:00:00 GMT", now, &usec));
	assert_int_equal(usec, 0);
	assert_true(retry_after_usec("99999999999999999999999", now, &usec));
	assert_int_equal(usec, RETRY_AFTER_SECONDS_MAX * 1000000ULL);
	assert_false(retry_after_usec("soon", now, &usec));
	assert_false(retry_after_usec("-5x", now, &usec));
}

static void test_pauses_grow_and_differ(void **state)
{
	bool differs = false;

	(void)state;
	for (int i = 0; i < 50; i++) {
		uint64_t first = retry_pause_usec(RETRY_FIRST_USEC, 1),
			 third = retry_pause_usec(RETRY_FIRST_USEC, 3);

		assert_in_range(first, RETRY_FIRST_USEC / 2, RETRY_FIRST_USEC);
		assert_in_range(third, RETRY_FIRST_USEC * 2, RETRY_FIRST_USEC * 4);
		differs = differs || first != retry_pause_usec(RETRY_FIRST_USEC, 1);
	}
	assert_true(differs);
	assert_in_range(retry_pause_usec(RETRY_FIRST_USEC, 60), RETRY_LONGEST_USEC / 2,
			RETRY_LONGEST_USEC);
}

static void test_warning(void **state)
{
	static const struct {
		const char *value, *text;
	} rows[] = {
		{"299 - \"moves\"", "moves"},
		{"299 - \"a \\\"b\\\" \\\\ c\" \"Sat, 01 Jan 2000 00:00:00 GMT\"", "a \"b\" \\ c"},
		{"299 - \"red \033[31m\t\177.\"", "red  [31m  ."},
		{"299 - \"no end", NULL},
		{"299 - \"no end\\", NULL},
		{"299 - \"no end\\\"", NULL},
		{"299 - \"\"", NULL},
		{"199 - \"old\"", NULL},
		{"299 host \"not ours\"", NULL},
		{"", NULL},
	};
	char text[REGISTRY_TEXT_MAX], value[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool found = warning_text(rows[i].value, text);

		if (found != (rows[i].text != NULL))
			fail_msg("%s", rows[i].value);
		if (found)
			assert_string_equal(text, rows[i].text);
	}
	memset(value, 'x', sizeof(value));
	memcpy(value, "299 - \"", 7);
	memcpy(value + sizeof(value) - 2, "\"", 2);
	assert_true(warning_text(value, text));
	assert_int_equal(strlen(text), REGISTRY_TEXT_MAX - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_warning),
		cmocka_unit_test(test_join_keeps_https_on_the_same_host),
		cmocka_unit_test(test_join_refuses),
		cmocka_unit_test(test_add_query),
		cmocka_unit_test(test_origins),
		cmocka_unit_test(test_exceptions),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_pauses_grow_and_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
