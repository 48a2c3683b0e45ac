/* SPDX-License-Identifier: MIT */
/* JSON with ceilings and errors. */
#include "tests/unit/support.h"

#include "core/json.h"

#include <sys/stat.h>

static int parse(const char *text, struct error *err)
{
	_cleanup_(json_free) cJSON *json = NULL;

	return json_parse(text, strlen(text), "facts.json", &json, err);
}

static void test_good(void **state)
{
	static const char *const good[] = {
		"{}",
		" { } ",
		"[]",
		"null",
		"3",
		"\"x\"",
		"{\"a\": [1, 2, {\"b\": null}]}\n",
		"\xef\xbb\xbf{}",
	};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_fine(parse(good[i], &err));
}

static void test_bad(void **state)
{
	static const char *const bad[] = {
		"",	  "{",	 "{\"a\"}", "{\"a\": 1,}", "[1 2]", "nul",    "'a'",
		"{a: 1}", "\"x", "{} {}",   "{} garbage",  "[1]]",  "{}\x01", "1 2",
	};
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		err = (struct error){0};
		if (parse(bad[i], &err) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_has(err.text, "facts.json");
	}
}

static void test_bad_names_the_line(void **state)
{
	struct error err = {0};

	(void)state;
	assert_fails(parse("{\n \"a\": 1,\n \"b\": x\n}\n", &err), ERROR_FAILED, "line 3");
}

/* Only `length` bytes are looked at, and there need be no NUL behind them. */
static void test_length_is_kept(void **state)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};
	char *exact = xmalloc(8);

	(void)state;
	memcpy(exact, "{\"a\":12}", 8);
	assert_fine(json_parse(exact, 8, "x", &json, &err));
	assert_true(json_number(json, "a", 0) == 12);
	json_free(&json);
	assert_int_equal(json_parse(exact, 7, "x", &json, &err), -1);
	assert_null(json);
	free(exact);
}

static void test_deep_nesting_is_refused(void **state)
{
	struct error err = {0};
	char *deep = xmalloc(200001);

	(void)state;
	memset(deep, '[', 200000);
	deep[200000] = '\0';
	assert_int_equal(parse(deep, &err), -1);
	free(deep);
}

static void test_members(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};
	const char *text = "{\"t\": \"x\", \"n\": 2.5, \"b\": true, \"f\": false, \"z\": null}";

	assert_fine(json_parse(text, strlen(text), "x", &json, &err));
	assert_string_equal(json_text(json, "t", &s->arena), "x");
	assert_null(json_text(json, "n", &s->arena));
	assert_null(json_text(json, "none", &s->arena));
	assert_null(json_text(json, "T", &s->arena));
	assert_true(json_number(json, "n", 7) == 2.5);
	assert_true(json_number(json, "t", 7) == 7);
	assert_true(json_bool(json, "b", false));
	assert_false(json_bool(json, "f", true));
	assert_true(json_bool(json, "z", true));
	assert_null(json_member(NULL, "x"));
	assert_true(json_number(NULL, "x", 7) == 7);
}

static void test_write_and_read(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = json_document(), *again = NULL;
	const char *path = in(s, "d.json");
	struct error err = {0};
	struct stat st;
	char *text;

	json_add_text(json, "kept", "a\"b\n");
	json_add_text(json, "empty", "");
	json_add_text(json, "null", NULL);
	assert_fine(json_write(path, json, 0600, &err));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	text = slurp(s, path);
	assert_int_equal(text[strlen(text) - 1], '\n');
	assert_fine(json_read(path, &again, &err));
	assert_true(cJSON_Compare(json, again, true));
	assert_true(json_number(again, "schema", 0) == 1);
	assert_int_equal(cJSON_GetArraySize(again), 2);
	json_free(&again);
	assert_fails(json_read(put(s, "bad.json", "{"), &again, &err), ERROR_FAILED,
		     in(s, "bad.json"));
	assert_fails(json_read(in(s, "none"), &again, &err), ERROR_FAILED, in(s, "none"));
}

/* "a\\0b" would be read as "a" by all that takes a text of C. */
static void test_nul_is_refused(void **state)
{
	static const char *const bad[] = {"\"a\\u0000b\"", "{\"a\\u0000\": 1}",
					  "[\"\\\\\\u0000\"]"};
	static const char *const good[] = {"\"a\\\\u0000b\"", "\"\\u0001\"", "\"\\\\\""};
	cJSON *json = NULL;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_fails(parse(bad[i], &err), ERROR_FAILED, "NUL");
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_fine(parse(good[i], &err));
	assert_fails(json_parse("[\"a\0b\"]", 7, "it", &json, &err), ERROR_FAILED, "it");
	assert_null(json);
}

static void test_bytes_that_are_not_utf8(void **state)
{
	_cleanup_(json_free) cJSON *json = NULL;
	static const char text[] =
		"{\"a\": \"M\xc3\xbcller M\xfcller \xf0\x9f\x98\x80\xed\xa0\x80\"}";
	struct scratch *s = *state;
	struct error err = {0};

	assert_fine(json_parse(text, strlen(text), "facts.json", &json, &err));
	assert_string_equal(json_text(json, "a", &s->arena),
			    "M\xc3\xbcller M?ller \xf0\x9f\x98\x80???");
}

static void test_twice(void **state)
{
	struct scratch *s = *state;
	_cleanup_(json_free) cJSON *json = cJSON_Parse("{\"b\":1,\"a\":2,\"B\":3,\"a\":4}");
	_cleanup_(json_free) cJSON *none = cJSON_Parse("{\"b\":1,\"a\":2,\"B\":3}");

	assert_string_equal(json_twice(json, &s->arena), "a");
	assert_null(json_twice(none, &s->arena));
	assert_null(json_twice(NULL, &s->arena));
}

static void test_input(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	cJSON *json;

	assert_fails(json_read_input(put(s, "bad.json", "{"), &json, &err), ERROR_USAGE,
		     in(s, "bad.json"));
	assert_fails(json_read_input("/dev/zero", &json, &err), ERROR_USAGE, "/dev/zero");
}

/* The text ends where its length says: nothing behind it is read, and no NUL ends it earlier. */
static void test_length_is_true(void **state)
{
	static const char *const texts[] = {
		"{\"1\":1,", "{\"os\": \"linux", "[1,", "[",  "\"a\\", "tru",
		"-",	     "\xef\xbb",	 "{}",	"[1]"};
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		size_t length = strlen(texts[i]);
		_cleanup_(free_pointer) char *exact = xmalloc(length); /* without a NUL */
		bool good = i >= ARRAY_LEN(texts) - 2;

		memcpy(exact, texts[i], length);
		assert_int_equal(json_parse(exact, length, "x", &json, &err), good ? 0 : -1);
		json_free(&json);
	}
	assert_int_equal(json_parse("{}\0", 3, "x", &json, &err), -1);
	assert_int_equal(json_parse("{\"a\0\": 1}", 9, "x", &json, &err), -1);
	assert_int_equal(json_parse("", 0, "x", &json, &err), -1);
}

static void test_names_once(void **state)
{
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};

	(void)state;
	assert_fine(json_parse("{\"a\":1,\"b\":2,\"b\":3,\"A\":4}", 25, "x", &json, &err));
	assert_true(json_names_once(json, (const char *const[]){"a", "c", NULL}));
	assert_false(json_names_once(json, (const char *const[]){"a", "b", NULL}));
	assert_true(json_names_once(NULL, (const char *const[]){"a", NULL}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_names_the_line),
		cmocka_unit_test(test_length_is_kept),
		cmocka_unit_test(test_length_is_true),
		cmocka_unit_test(test_names_once),
		cmocka_unit_test(test_deep_nesting_is_refused),
		SCRATCH_TEST(test_members),
		SCRATCH_TEST(test_write_and_read),
		cmocka_unit_test(test_nul_is_refused),
		SCRATCH_TEST(test_bytes_that_are_not_utf8),
		SCRATCH_TEST(test_twice),
		SCRATCH_TEST(test_input),
	};

	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
