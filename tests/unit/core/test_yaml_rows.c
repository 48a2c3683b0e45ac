/* SPDX-License-Identifier: MIT */
/* Keys of a YAML map as rows: what is stored, what stays at its default, and what is refused. */
#include "tests/unit/support.h"

#include "core/yaml_rows.h"

struct inner {
	const char *word;
	int number;
};

struct item {
	const char *name, *from, *to;
};

struct sample {
	const char *text, *choice, *given;
	int number;
	bool flag;
	const char *const *words, *const *pairs;
	struct inner inner;
	struct item *items, *named;
	size_t item_count, named_count;
	int own_calls;
};

static int check_number(const struct yaml_place *at, struct error *err)
{
	const struct inner *inner = at->values;
	const struct sample *sample = at->root;

	if (inner->number != 13)
		return 0;
	return yaml_error(at->node ? at->node : at->map, err, "'%s' is 13 beside %s", at->row->key,
			  sample->text);
}

static int count_own(const struct yaml_place *at, struct error *err)
{
	struct sample *sample = at->values;

	(void)err;
	sample->own_calls += at->node ? 10 : 1;
	return 0;
}

static const char *give_text(const void *values, const void *root)
{
	assert_ptr_equal(values, root);
	return ((const struct sample *)root)->text;
}

#define AT(member) offsetof(struct inner, member)
static const struct yaml_row inner_rows[] = {
	{.key = "word", .kind = YAML_ROW_TEXT, .offset = AT(word), .note = "none"},
	{.key = "number",
	 .kind = YAML_ROW_INT,
	 .offset = AT(number),
	 .value = "7",
	 .min = 0,
	 .max = 20,
	 .check = check_number},
	YAML_ROWS_END,
};
#undef AT

#define AT(member) offsetof(struct item, member)
static const struct yaml_row item_rows[] = {
	{.key = "from", .kind = YAML_ROW_TEXT, .offset = AT(from), .value = "here"},
	{.key = "to", .kind = YAML_ROW_TEXT, .offset = AT(to), .note = "required"},
	YAML_ROWS_END,
};
#undef AT

#define AT(member) offsetof(struct sample, member)
static const struct yaml_row rows[] = {
	{.key = "text", .kind = YAML_ROW_TEXT, .offset = AT(text), .value = "~/x"},
	{.key = "choice",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(choice),
	 .value = "auto",
	 .choices = WORDS("auto", "openssh")},
	{.key = "given",
	 .kind = YAML_ROW_TEXT,
	 .offset = AT(given),
	 .note = "the text",
	 .given = give_text},
	{.key = "number",
	 .kind = YAML_ROW_INT,
	 .offset = AT(number),
	 .value = "22",
	 .min = 1,
	 .max = 65535},
	{.key = "flag", .kind = YAML_ROW_BOOL, .offset = AT(flag), .value = "true"},
	{.key = "words", .kind = YAML_ROW_WORDS, .offset = AT(words), .value = "[d, e f]"},
	{.key = "pairs", .kind = YAML_ROW_PAIRS, .offset = AT(pairs), .value = "{A: 1}"},
	{.key = "inner", .kind = YAML_ROW_MAP, .offset = AT(inner), .rows = inner_rows},
	{.key = "items",
	 .kind = YAML_ROW_MAPS,
	 .offset = AT(items),
	 .value = "[]",
	 .rows = item_rows,
	 .item = "an item",
	 .item_bytes = sizeof(struct item),
	 .count_offset = AT(item_count)},
	{.key = "named",
	 .kind = YAML_ROW_NAMED,
	 .offset = AT(named),
	 .note = "none",
	 .rows = item_rows,
	 .item = "item",
	 .item_bytes = sizeof(struct item),
	 .count_offset = AT(named_count),
	 .name_offset = offsetof(struct item, name)},
	{.key = "own", .kind = YAML_ROW_OWN, .note = "nothing", .check = count_own},
	YAML_ROWS_END,
};
#undef AT

static int read_text(struct scratch *s, const char *text, struct sample *sample,
		     struct error *failure)
{
	struct error err = {0};
	struct yaml *root;

	assert_fine(yaml_parse("c.yaml", text, strlen(text), &s->arena, &root, &err));
	*sample = (struct sample){.own_calls = 0};
	assert_fine(yaml_defaults(rows, sample, sample, &s->arena, &err));
	return yaml_read(rows, "the file", root, sample, sample, &s->arena, failure);
}

static void read_fine(struct scratch *s, const char *text, struct sample *sample)
{
	struct error err = {0};

	if (read_text(s, text, sample, &err) < 0)
		fail_msg("%s: %s", text, err.text);
}

static void assert_words(const char *const *words, const char *const *wanted)
{
	for (; *wanted; words++, wanted++) {
		assert_non_null(*words);
		assert_string_equal(*words, *wanted);
	}
	assert_null(*words);
}

/* "c.yaml:LINE:COLUMN: SAYS..." */
static void assert_refused(struct scratch *s, const char *text, const char *place, const char *says)
{
	struct sample sample;
	struct error err = {0};
	const char *begin = arena_printf(&s->arena, "c.yaml:%s: ", place);

	assert_fails(read_text(s, text, &sample, &err), ERROR_USAGE, says);
	if (strncmp(err.text, begin, strlen(begin)) != 0)
		fail_msg("%s: \"%s\" does not begin with %s", text, err.text, begin);
}

static void test_defaults(void **state)
{
	struct sample sample;

	read_fine(*state, "", &sample);
	assert_string_equal(sample.text, "~/x");
	assert_string_equal(sample.choice, "auto");
	assert_string_equal(sample.given, "~/x");
	assert_int_equal(sample.number, 22);
	assert_true(sample.flag);
	assert_words(sample.words, WORDS("d", "e f"));
	assert_words(sample.pairs, WORDS("A=1"));
	assert_string_equal(sample.inner.word, "");
	assert_int_equal(sample.inner.number, 7);
	assert_int_equal(sample.item_count, 0);
	assert_int_equal(sample.own_calls, 1);
}

/* The value that a default is taken from is the one of the file. */
static void test_given(void **state)
{
	struct sample sample;

	read_fine(*state, "text: new\n", &sample);
	assert_string_equal(sample.given, "new");
	read_fine(*state, "text: new\ngiven: own\n", &sample);
	assert_string_equal(sample.given, "own");
}

static void test_default_of_the_wrong_kind(void **state)
{
	struct scratch *s = *state;
	struct yaml_row wrong[] = {rows[3], YAML_ROWS_END};
	struct sample sample = {.own_calls = 0};
	struct error err = {0};

	wrong[0].value = "many";
	assert_fails(yaml_defaults(wrong, &sample, &sample, &s->arena, &err), ERROR_USAGE,
		     "'number' must be a whole number");
	wrong[0].value = "[";
	assert_fails(yaml_defaults(wrong, &sample, &sample, &s->arena, &err), ERROR_USAGE,
		     "number:");
}

static void test_unknown_keys(void **state)
{
	struct sample sample;

	read_fine(*state, "text: a\nwords: [b]\n", &sample);
	assert_refused(*state, "text: a\n  \nflg: {}\n", "3:1",
		       "unknown key 'flg' in the file; did you mean 'flag'?");
	assert_refused(
		*state, "kubernetes: a\n", "1:1",
		"; known keys: text choice given number flag words pairs inner items named own");
	assert_refused(*state, "inner: {wrd: x}\n", "1:9",
		       "unknown key 'wrd' in 'inner'; did you mean 'word'?");
	assert_refused(*state, "items: [{form: x}]\n", "1:10",
		       "unknown key 'form' in an item; did you mean 'from'?");
	assert_refused(*state, "[a]", "1:1", "the file must be a map of key: value");
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {
		"0", "70000", "x", "1.5", "[1]", "99999999999999999999", "0x10", "''", "-1"};
	struct scratch *s = *state;
	struct error err = {0};
	struct sample sample;

	read_fine(s, "number: 65535\n", &sample);
	assert_int_equal(sample.number, 65535);
	read_fine(s, "number: 5 \n", &sample);
	assert_int_equal(sample.number, 5);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *text = arena_printf(&s->arena, "number: %s\n", bad[i]);

		assert_refused(s, text, "1:9", "'number' must be a whole number");
		assert_fails(read_text(s, text, &sample, &err), ERROR_USAGE, "number");
		assert_int_equal(sample.number, 22);
	}
	assert_refused(s, "number: ssh\n", "1:9", "from 1 to 65535, not 'ssh'");
}

static void test_booleans(void **state)
{
	struct sample sample;

	read_fine(*state, "flag: true\n", &sample);
	assert_true(sample.flag);
	read_fine(*state, "flag: false\n", &sample);
	assert_false(sample.flag);
	assert_refused(*state, "flag: yes\n", "1:7", "'flag' must be true or false");
	assert_refused(*state, "\n\n\nflag: [true]\n", "4:7", "true or false");
	assert_refused(*state, "flag: True\n", "1:7", "true or false");
}

static void test_words_and_pairs(void **state)
{
	struct sample sample;

	read_fine(*state, "words: a\n", &sample);
	assert_words(sample.words, WORDS("a"));
	read_fine(*state, "words: [a, b, 3]\n", &sample);
	assert_words(sample.words, WORDS("a", "b", "3"));
	assert_refused(*state, "words: [a, [b]]\n", "1:12", "'words' must be a list of words");
	assert_refused(*state, "words: {x: 1}\n", "1:8", "'words' must be a list of words");
	read_fine(*state, "pairs: {B: 2, A: b c, E: ''}\n", &sample);
	assert_words(sample.pairs, WORDS("B=2", "A=b c", "E="));
	assert_refused(*state, "pairs: {x: [1]}\n", "1:12", "'pairs.x' must be a word");
	assert_refused(*state, "pairs: [a, b]\n", "1:8", "'pairs' must be a map of name: value");
}

/* An empty list says "none"; only a missing key means the default. */
static void test_empty_list_is_an_answer(void **state)
{
	struct sample sample;

	read_fine(*state, "words: []\npairs: {}\n", &sample);
	assert_null(sample.words[0]);
	assert_null(sample.pairs[0]);
	read_fine(*state, "words: ~\npairs: null\n", &sample);
	assert_words(sample.words, WORDS("d", "e f"));
	assert_words(sample.pairs, WORDS("A=1"));
}

static void test_maps_and_texts(void **state)
{
	struct sample sample;

	read_fine(*state, "inner: {word: a}\n", &sample);
	assert_string_equal(sample.inner.word, "a");
	assert_int_equal(sample.inner.number, 7);
	read_fine(*state, "inner: ~\ntext: ~\n", &sample);
	assert_string_equal(sample.inner.word, "");
	assert_string_equal(sample.text, "~/x");
	assert_refused(*state, "\ninner: [1]\n", "2:8", "'inner' must be a map of key: value");
	assert_refused(*state, "text: {a: 1}\n", "1:7", "'text' must be a word");
	read_fine(*state, "text: \"\"\n", &sample);
	assert_string_equal(sample.text, "");
}

static void test_choices(void **state)
{
	struct sample sample;

	read_fine(*state, "choice: openssh\n", &sample);
	assert_string_equal(sample.choice, "openssh");
	assert_refused(*state, "choice: opnssh\n", "1:9",
		       "'choice' cannot be 'opnssh'; it can be auto, openssh");
	assert_refused(*state, "choice: none\n", "1:9",
		       "'choice' cannot be 'none'; it can be auto, openssh");
}

static void test_lists_of_maps(void **state)
{
	struct sample sample;

	read_fine(*state, "items: [{to: /a}, {from: x, to: /b}]\n", &sample);
	assert_int_equal(sample.item_count, 2);
	assert_string_equal(sample.items[0].from, "here");
	assert_string_equal(sample.items[0].to, "/a");
	assert_string_equal(sample.items[1].from, "x");
	assert_string_equal(sample.items[1].to, "/b");
	assert_refused(*state, "items: x\n", "1:8", "'items' must be a list of {from, to}");
	assert_refused(*state, "items: [x]\n", "1:9", "an item must be a map of key: value");
	assert_refused(*state, "items: [{to: []}]\n", "1:14", "'to' must be a word");
}

static void test_maps_by_name(void **state)
{
	struct sample sample;

	read_fine(*state, "named: {b: {to: /a}, a: {from: x, to: /b}}\n", &sample);
	assert_int_equal(sample.named_count, 2);
	assert_string_equal(sample.named[0].name, "b");
	assert_string_equal(sample.named[0].from, "here");
	assert_string_equal(sample.named[0].to, "/a");
	assert_string_equal(sample.named[1].name, "a");
	assert_string_equal(sample.named[1].from, "x");
	read_fine(*state, "named: {}\n", &sample);
	assert_int_equal(sample.named_count, 0);
	assert_refused(*state, "named: [x]\n", "1:8", "'named' must be a map of NAME: {from, to}");
	assert_refused(*state, "named: {a: x}\n", "1:12",
		       "the item 'a' must be a map of key: value");
	assert_refused(*state, "named: {a: {too: x}}\n", "1:13",
		       "unknown key 'too' in the item 'a'");
}

/* A check sees the whole map, the value's place, and the outermost struct. */
static void test_checks(void **state)
{
	struct sample sample;

	assert_refused(*state, "inner: {number: 13}\ntext: y\n", "1:17", "'number' is 13 beside ");
	read_fine(*state, "own: [anything]\n", &sample);
	assert_int_equal(sample.own_calls, 10);
}

static void test_keys(void **state)
{
	static const char *const wanted[] = {
		"text",	 "choice",	    "given",	     "number", "flag",	       "words",
		"pairs", "inner.word",	    "inner.number",  "items",  "items[].from", "items[].to",
		"named", "named.NAME.from", "named.NAME.to", "own"};
	struct scratch *s = *state;
	struct yaml_key *keys;
	size_t count = yaml_keys(rows, &s->arena, &keys);

	assert_int_equal(count, ARRAY_LEN(wanted));
	for (size_t i = 0; i < count; i++)
		assert_string_equal(keys[i].path, wanted[i]);
	assert_string_equal(yaml_row_default(keys[3].row), "22");
	assert_string_equal(yaml_row_default(keys[2].row), "the text");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_defaults),
		SCRATCH_TEST(test_given),
		SCRATCH_TEST(test_default_of_the_wrong_kind),
		SCRATCH_TEST(test_unknown_keys),
		SCRATCH_TEST(test_numbers),
		SCRATCH_TEST(test_booleans),
		SCRATCH_TEST(test_words_and_pairs),
		SCRATCH_TEST(test_empty_list_is_an_answer),
		SCRATCH_TEST(test_maps_and_texts),
		SCRATCH_TEST(test_choices),
		SCRATCH_TEST(test_lists_of_maps),
		SCRATCH_TEST(test_maps_by_name),
		SCRATCH_TEST(test_checks),
		SCRATCH_TEST(test_keys),
	};

	return cmocka_run_group_tests_name("yaml_rows", tests, NULL, NULL);
}
