/* SPDX-License-Identifier: MIT */
/* YAML with places: keys, types, and what is refused. */
#include "tests/unit/support.h"

#include "core/yaml.h"

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

static void test_check_keys(void **state)
{
	static const char *const keys[] = {"name", "hosts", "registry", NULL};
	struct error err = {0};

	assert_fine(
		yaml_check_keys(parse(*state, "name: a\nhosts: [b]\n"), "the file", keys, &err));
	assert_fails(yaml_check_keys(parse(*state, "name: a\n  \nregisty: {}\n"), "the file", keys,
				     &err),
		     ERROR_USAGE, "c.yaml:3:1: unknown key 'registy' in the file");
	assert_has(err.text, "did you mean 'registry'?");
	assert_fails(yaml_check_keys(parse(*state, "kubernetes: a\n"), "the file", keys, &err),
		     ERROR_USAGE, "known keys: name hosts registry");
	assert_fails(yaml_check_keys(parse(*state, "[a]"), "the file", keys, &err), ERROR_USAGE,
		     "c.yaml:1:1: the file must be a map");
}

static void test_numbers(void **state)
{
	struct yaml *root = parse(*state, "a: 22\nb: 0\nc: 70000\nd: x\ne: 1.5\nf: [1]\n"
					  "g: 99999999999999999999\nh: 0x10\ni: ''\nj: 5 \n");
	static const char *const bad[] = {"b", "c", "d", "e", "f", "g", "h", "i"};
	struct error err = {0};
	int value = 7;

	assert_fine(yaml_get_int(root, "a", 1, 65535, &value, &err));
	assert_int_equal(value, 22);
	assert_fine(yaml_get_int(root, "none", 1, 65535, &value, &err));
	assert_int_equal(value, 22);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_fails(yaml_get_int(root, bad[i], 1, 65535, &value, &err), ERROR_USAGE,
			     "must be a whole number");
		assert_place(err.text);
		assert_int_equal(value, 22);
	}
	assert_fine(yaml_get_int(root, "j", 1, 9, &value, &err));
	assert_int_equal(value, 5);
}

static void test_booleans(void **state)
{
	struct yaml *root = parse(*state, "a: true\nb: false\nc: yes\nd: [true]\ne: True\n");
	struct error err = {0};
	bool value = false;

	assert_fine(yaml_get_bool(root, "a", &value, &err));
	assert_true(value);
	assert_fine(yaml_get_bool(root, "b", &value, &err));
	assert_false(value);
	assert_fails(yaml_get_bool(root, "c", &value, &err), ERROR_USAGE, "true or false");
	assert_fails(yaml_get_bool(root, "d", &value, &err), ERROR_USAGE, "c.yaml:4:4: ");
	assert_fails(yaml_get_bool(root, "e", &value, &err), ERROR_USAGE, "true or false");
}

static void test_words_and_pairs(void **state)
{
	struct scratch *s = *state;
	static const char *const defaults[] = {"d", NULL};
	struct yaml *root = parse(s, "one: a\nmany: [a, b, 3]\nempty: []\nnested: [a, [b]]\n"
				     "map: {x: 1}\npairs: {B: 2, A: b c, E: ''}\nbad: {x: [1]}\n");
	const char *const *words = defaults;
	struct error err = {0};

	assert_fine(yaml_get_words(root, "none", &s->arena, &words, &err));
	assert_ptr_equal(words, defaults);
	assert_fine(yaml_get_words(root, "one", &s->arena, &words, &err));
	assert_string_equal(words[0], "a");
	assert_null(words[1]);
	assert_fine(yaml_get_words(root, "many", &s->arena, &words, &err));
	assert_string_equal(words[2], "3");
	assert_null(words[3]);
	assert_fails(yaml_get_words(root, "nested", &s->arena, &words, &err), ERROR_USAGE,
		     "c.yaml:4:13: ");
	assert_fails(yaml_get_words(root, "map", &s->arena, &words, &err), ERROR_USAGE,
		     "list of words");
	assert_fine(yaml_get_pairs(root, "pairs", &s->arena, &words, &err));
	assert_string_equal(words[0], "B=2");
	assert_string_equal(words[1], "A=b c");
	assert_string_equal(words[2], "E=");
	assert_null(words[3]);
	assert_fails(yaml_get_pairs(root, "bad", &s->arena, &words, &err), ERROR_USAGE, "'bad.x'");
	assert_fails(yaml_get_pairs(root, "many", &s->arena, &words, &err), ERROR_USAGE, "a map");
}

/* An empty list says "none"; only a missing key means the default. */
static void test_empty_list_is_an_answer(void **state)
{
	struct scratch *s = *state;
	static const char *const defaults[] = {"d", NULL};
	struct yaml *root = parse(s, "empty: []\nnothing: {}\n");
	const char *const *words = defaults;
	struct error err = {0};

	assert_fine(yaml_get_words(root, "empty", &s->arena, &words, &err));
	assert_null(words[0]);
	words = defaults;
	assert_fine(yaml_get_pairs(root, "nothing", &s->arena, &words, &err));
	assert_null(words[0]);
}

static void test_maps_and_texts(void **state)
{
	struct yaml *root = parse(*state, "m: {a: 1}\nl: [1]\nt: x\nn: ~\n");
	const char *text = "kept";
	struct error err = {0};
	struct yaml *map;

	assert_fine(yaml_get_map(root, "m", &map, &err));
	assert_int_equal(map->count, 1);
	assert_fine(yaml_get_map(root, "n", &map, &err));
	assert_null(map);
	assert_fails(yaml_get_map(root, "l", &map, &err), ERROR_USAGE, "c.yaml:2:4: 'l' must be");
	assert_fine(yaml_get_text(root, "n", &text, &err));
	assert_string_equal(text, "kept");
	assert_fine(yaml_get_text(root, "t", &text, &err));
	assert_string_equal(text, "x");
	assert_fails(yaml_get_text(root, "m", &text, &err), ERROR_USAGE, "c.yaml:1:4: 'm' must be");
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
		SCRATCH_TEST(test_check_keys),
		SCRATCH_TEST(test_numbers),
		SCRATCH_TEST(test_booleans),
		SCRATCH_TEST(test_words_and_pairs),
		SCRATCH_TEST(test_empty_list_is_an_answer),
		SCRATCH_TEST(test_maps_and_texts),
		SCRATCH_TEST(test_load),
	};

	return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
