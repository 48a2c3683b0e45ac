/* SPDX-License-Identifier: MIT */
/* YAML with places, and what is refused. test_yaml_rows.c reads it into structs. */
#include "tests/unit/support.h"

#include "core/str.h"
#include "core/yaml.h"

#include <time.h>

static struct yaml *parse(struct scratch *s, const char *text)
{
	struct error err = {0};
	struct yaml *root;

	assert_fine(yaml_parse("c.yaml", text, strlen(text), &s->arena, &root, &err));
	return root;
}

static void test_places(void **state)
{
	struct yaml *root = parse(*state, "# first line\nname: lab\nhosts:\n  - a\n"
					  "  - {address: b, port: 22}\nssh:\n    user:  ops\n");
	struct yaml *hosts = yaml_get(root, "hosts"), *ssh = yaml_get(root, "ssh");

	assert_int_equal(root->kind, YAML_MAP);
	assert_int_equal(root->count, 3);
	assert_int_equal(root->items[0]->key_line, 2);
	assert_int_equal(root->items[0]->column, 7);
	assert_string_equal(root->items[0]->key, "name");
	assert_int_equal(hosts->kind, YAML_LIST);
	assert_int_equal(hosts->count, 2);
	assert_int_equal(hosts->items[1]->line, 5);
	assert_int_equal(hosts->items[1]->column, 5);
	assert_string_equal(yaml_get(hosts->items[1], "address")->text, "b");
	assert_int_equal(yaml_get(hosts->items[1], "port")->column, 24);
	assert_int_equal(yaml_get(ssh, "user")->line, 7);
	assert_int_equal(yaml_get(ssh, "user")->column, 12);
	assert_int_equal(yaml_get(ssh, "user")->key_column, 5);
	assert_string_equal(root->file, "c.yaml");
}

static void test_null_and_quoted(void **state)
{
	struct yaml *root = parse(*state, "a:\nb: ~\nc: null\nd: \"null\"\ne: ''\nf: \"~\"\n");

	assert_null(yaml_get(root, "a"));
	assert_null(yaml_get(root, "b"));
	assert_null(yaml_get(root, "c"));
	assert_string_equal(yaml_get(root, "d")->text, "null");
	assert_string_equal(yaml_get(root, "e")->text, "");
	assert_string_equal(yaml_get(root, "f")->text, "~");
	assert_null(yaml_get(root, "none"));
}

static void test_json_is_yaml(void **state)
{
	struct yaml *root = parse(*state, "{\"name\": \"lab\",\n \"hosts\": [\"a\", \"b\"]}\n");

	assert_string_equal(yaml_get(root, "name")->text, "lab");
	assert_int_equal(yaml_get(root, "hosts")->count, 2);
	assert_int_equal(yaml_get(root, "hosts")->line, 2);
}

static void test_empty_is_an_empty_map(void **state)
{
	static const char *const empty[] = {"", "\n\n", "# only a comment\n"};

	for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
		struct yaml *root = parse(*state, empty[i]);

		assert_int_equal(root->kind, YAML_MAP);
		assert_int_equal(root->count, 0);
	}
}

static void test_bad(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *where, *what;
	} cases[] = {
		{"a: 1\nb: 2\na: 3\n", "c.yaml:3:1: ", "'a' stands twice; the first is on line 1"},
		{"x:\n  k: 1\n  k: 2\n", "c.yaml:3:3: ", "'k' stands twice"},
		{"a: &x 1\n", "c.yaml:1:4: ", "anchors"},
		{"a: &x [1]\n", "c.yaml:1:4: ", "anchors"},
		{"a: &x {b: c}\n", "c.yaml:1:4: ", "anchors"},
		{"a: *x\n", "c.yaml:1:4: ", "anchors"},
		{"&k a: 1\n", "c.yaml:1:1: ", "anchors"},
		{"a: !!python/object x\n", "c.yaml:1:4: ", "tag"},
		{"%YAML 1.1\n%TAG !e! tag:e,2000:\n---\na: 1\n", "c.yaml:2:1: ", "%TAG"},
		{"a: !foo [1]\n", "c.yaml:1:4: ", "tag"},
		{"a: !foo {b: 1}\n", "c.yaml:1:4: ", "tag"},
		{"[a, b]: 1\n", "c.yaml:1:1: ", "a key must be a word"},
		{"{a: b}: 1\n", "c.yaml:1:1: ", "a key must be a word"},
		{"a: 1\n---\nb: 2\n", "c.yaml:3:1: ", "more than one document"},
		{"a: [1, 2\n", "c.yaml:", ""},
		{"a: \"x\n", "c.yaml:", ""},
		{"a: b: c\n", "c.yaml:1:5: ", ""},
		{"\tx: 1\n", "c.yaml:1:1: ", ""},
		{"a: 1\nb: \x01\n", "c.yaml:", ""},
		{"a: \xff\xfe\n", "c.yaml:", ""},
		{"- &a [x]\n- *a\n", "c.yaml:1:3: ", "anchors"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct error err = {0};
		struct yaml *root;
		int rc = yaml_parse("c.yaml", cases[i].text, strlen(cases[i].text), &s->arena,
				    &root, &err);

		if (rc == 0)
			fail_msg("accepted: %s", cases[i].text);
		assert_int_equal(err.kind, ERROR_USAGE);
		if (strncmp(err.text, cases[i].where, strlen(cases[i].where)) != 0)
			fail_msg("for %s: \"%s\" does not begin with %s", cases[i].text, err.text,
				 cases[i].where);
		assert_has(err.text, cases[i].what);
	}
}

/* "file:line:column: ", whatever is wrong. */
static void assert_place(const char *text)
{
	int line = 0, column = 0, used = 0;

	if (sscanf(text, "c.yaml:%d:%d: %n", &line, &column, &used) != 2 || !used)
		fail_msg("no place in \"%s\"", text);
	assert_true(line > 0 && column > 0);
}

static void test_depth(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct yaml *root;
	char text[201] = {0};

	memset(text, '[', 200);
	assert_fails(yaml_parse("c.yaml", text, 200, &s->arena, &root, &err), ERROR_USAGE, "deep");
	assert_place(err.text);
	parse(s, "[[[[[[[[[[1]]]]]]]]]]");
}

static void test_too_many_values(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct yaml *root;
	size_t count = 300000;
	char *text = arena_alloc(&s->arena, 2 * count + 3);

	text[0] = '[';
	for (size_t i = 0; i < count; i++)
		memcpy(text + 1 + 2 * i, "1,", 2);
	text[1 + 2 * count] = ']';
	assert_fails(yaml_parse("c.yaml", text, strlen(text), &s->arena, &root, &err), ERROR_USAGE,
		     "too many");
	assert_place(err.text);
}

static void test_load(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	struct yaml *root;

	assert_fine(yaml_load(put(s, "a.yaml", "a: b\n"), &s->arena, &root, &err));
	assert_string_equal(yaml_get(root, "a")->text, "b");
	assert_fails(yaml_load(in(s, "none"), &s->arena, &root, &err), ERROR_USAGE, in(s, "none"));
	assert_fails(yaml_load(put(s, "b.yaml", "a: [\n"), &s->arena, &root, &err), ERROR_USAGE,
		     in(s, "b.yaml:"));
}

/* Escapes in quotes make any character, and C reads a text up to its first NUL. */
static void test_control_characters(void **state)
{
	struct scratch *s = *state;
	static const char *const bad[] = {
		"a: \"x\\0y\"\n",   "\"a\\0b\": x\n",	"a: [\"\\e[2J\"]\n",
		"a: \"\\x7f\"\n",   "a: \"\\r\"\n",	"a: \"\\x9b\"\n",
		"a: \"\\u0000\"\n", "a: \"\\u009b\"\n", "{\"a\": \"\\u0000\"}"};
	struct error err = {0};
	struct yaml *root;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_fails(yaml_parse("c.yaml", bad[i], strlen(bad[i]), &s->arena, &root, &err),
			     ERROR_USAGE, "control character U+00");
		assert_place(err.text);
	}
	root = parse(s, "a: \"x\\ty\\n\\u00e9\\xa0\"\nb: |\n  two\n  lines\n");
	assert_string_equal(yaml_get(root, "a")->text, "x\ty\n\xc3\xa9\xc2\xa0");
	assert_string_equal(yaml_get(root, "b")->text, "two\nlines\n");
}

/* 90,000 keys took 48 s of CPU time while each was compared with all before it. */
static void test_many_keys(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str text = STR_INIT;
	clock_t begin = clock();
	struct error err = {0};
	struct yaml *root;

	for (int i = 0; i < 90000; i++)
		str_addf(&text, "key_of_some_length_%d: 1\n", i);
	assert_fine(yaml_parse("c.yaml", text.text, text.length, &s->arena, &root, &err));
	assert_int_equal(root->count, 90000);
	str_add(&text, "other: 1\nkey_of_some_length_5: 1\n");
	assert_fails(yaml_parse("c.yaml", text.text, text.length, &s->arena, &root, &err),
		     ERROR_USAGE, "c.yaml:90002:1: 'key_of_some_length_5' stands twice");
	assert_has(err.text, "line 6");
	assert_true((clock() - begin) / CLOCKS_PER_SEC < 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_places),
		SCRATCH_TEST(test_null_and_quoted),
		SCRATCH_TEST(test_json_is_yaml),
		SCRATCH_TEST(test_empty_is_an_empty_map),
		SCRATCH_TEST(test_bad),
		SCRATCH_TEST(test_depth),
		SCRATCH_TEST(test_too_many_values),
		SCRATCH_TEST(test_load),
		SCRATCH_TEST(test_control_characters),
		SCRATCH_TEST(test_many_keys),
	};

	return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
