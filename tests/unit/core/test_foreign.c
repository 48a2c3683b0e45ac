/* SPDX-License-Identifier: MIT */
/* Text from elsewhere, made fit to print: nothing that a terminal obeys comes through. */
#include "tests/unit/support.h"

#include "core/foreign.h"
#include "core/json.h"
#include "core/progress_event.h"
#include "core/term.h"
#include "core/words.h"

static const char *cleaned(struct scratch *s, const char *text)
{
	return foreign_clean(arena_strdup(&s->arena, text));
}

static const char *line(struct scratch *s, const char *text)
{
	return foreign_clean_line(arena_strdup(&s->arena, text));
}

static void test_plain(void **state)
{
	struct scratch *s = *state;
	const char *text =
		"node01: 5 % of \xc3\xa9\xe6\xbc\xa2\xf0\x9f\x98\x80 \xef\xbf\xbf\n\tmore";

	assert_string_equal(cleaned(s, text), text);
	assert_string_equal(cleaned(s, ""), "");
	assert_string_equal(line(s, "a\tb\nc"), "a?b?c");
}

static void test_controls(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{"\033[2J", "?[2J"},
		{"\033]0;title\a", "?]0;title?"},
		{"a\rb", "a?b"},
		{"a\r\nb\r", "a\nb"}, /* line ends of DOS */
		{"\x01\x1f\x7f", "???"},
		{"\xc2\x9b"
		 "31m",
		 "?31m"},				    /* CSI as one character */
		{"\xc2\x80\xc2\x9f\xc2\xa0", "??\xc2\xa0"}, /* the range's ends, and the next one */
		{"\xe2\x80\xae"
		 "abc",
		 "?abc"}, /* right-to-left override */
		{"\xe2\x80\xaa\xe2\x81\xa6\xe2\x81\xa9", "???"},
		{"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "???"},
		{"\xe2\x80\xa8\xe2\x80\xa9", "??"},
		{"\xe2\x80\xaf\xe2\x81\xa5", "\xe2\x80\xaf\xe2\x81\xa5"}, /* beside them */
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(cleaned(s, cases[i].text), cases[i].clean);
}

/* RFC 3629, sections 3 and 4. */
static void test_no_utf8(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *clean;
	} cases[] = {
		{"\x9b"
		 "31m",
		 "?31m"},		      /* C1 as a byte */
		{"\xc0\x9b", "??"},	      /* overlong */
		{"\xe0\x82\x9b", "???"},      /* U+009B in three bytes */
		{"\xf0\x80\x82\x9b", "????"}, /* and in four */
		{"\xed\xa0\x80", "???"},      /* a surrogate */
		{"\xf4\x90\x80\x80", "????"}, /* over U+10FFFF */
		{"\xf8\x88\x80\x80\x80", "?????"},
		{"\xc3", "?"}, /* cut off */
		{"\xe6\xbc", "??"},
		{"\xc3\033[m", "??[m"}, /* no byte behind is eaten */
		{"\xff\xfe", "??"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_string_equal(cleaned(s, cases[i].text), cases[i].clean);
}

static void test_json(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str text = STR_INIT;
	_cleanup_(json_free) cJSON *json = NULL;
	struct error err = {0};

	(void)s;
	foreign_add_json(&text,
			 "{\n\t\"a\": \"\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9\", \"b\": \"\xff\"}");
	assert_string_equal(text.text,
			    "{\n\t\"a\": \"\\u007f\\u009b\\u202e\xc3\xa9\", \"b\": \"\\ufffd\"}");
	assert_int_equal(json_parse(text.text, text.length, "it", &json, &err), 0);
	assert_string_equal(json_member(json, "a")->valuestring,
			    "\x7f\xc2\x9b\xe2\x80\xae\xc3\xa9");
}

static void test_sinks(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str event = STR_INIT;
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	_cleanup_(json_free) cJSON *json = cJSON_CreateObject();
	struct term_table table;

	assert_non_null(out);
	say_to(out, "%s\n", "\033[2J\xc2\x9b");
	term_table_init(&table, &s->arena, WORDS("A", "B"));
	term_table_row(&table, WORDS("\033]0;x\a\n", "\xe2\x80\xae"));
	term_table_print(&table, out);
	cJSON_AddStringToObject(json, "a", "\xc2\x9b");
	json_print(out, json);
	fclose(out);
	assert_string_equal(text, "?[2J?\n"
				  "A        B\n"
				  "?]0;x??  ?\n"
				  "{\n\t\"a\":\t\"\\u009b\"\n}\n");
	free(text);
	event_text(&event, "info", "\xc2\x9b\033");
	assert_has(event.text, "\\u009b\\u001b");
}

/* Escape sequences go, complete or not; everything else stays. */
static void test_escapes(void **state)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	(void)state;
	foreign_add_plain(&out, "\033[1;31mred\033[0m \033]0;title\007text\x01\033(B\033[");
	assert_string_equal(out.text, "red text\x01");
}

/* What a program goes back over is gone; a line that only went back stays. */
static void test_shown(void **state)
{
	static const char *const cases[][2] = {
		{"plain", "plain"},
		{"10 %\r20 %\r", "20 %"},
		{"\b\b\b\r\033[1m1/9\033[0m \xe2\x94\x81", "1/9 \xe2\x94\x81"},
		{"a\xe2\x94\x81\bb", "ab"},
		{"\b\bx\b", ""},
		{"abc\r\b\bd", "d"},
		{"\r", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(str_release) struct str out = STR_INIT;

		str_add(&out, "[0] ");
		foreign_add_shown(&out, cases[i][0]);
		assert_string_equal(out.text + 4, cases[i][1]);
		assert_int_equal(out.length, 4 + strlen(cases[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_plain),     SCRATCH_TEST(test_controls),
		SCRATCH_TEST(test_no_utf8),   SCRATCH_TEST(test_json),
		SCRATCH_TEST(test_sinks),     cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_shown),
	};

	return cmocka_run_group_tests_name("foreign", tests, NULL, NULL);
}
