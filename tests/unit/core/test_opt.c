/* SPDX-License-Identifier: MIT */
/* Command-line options: every form, and every error. */
#include "tests/unit/support.h"

#include "core/opt.h"

struct values {
	bool json, verbose;
	const char *file;
	int count, ranks;
	struct words hosts;
};

static const struct opt rows[] = {
	{'f', "file", "FILE", "cluster file", OPT_TEXT, offsetof(struct values, file)},
	{0, "json", NULL, "print JSON", OPT_FLAG, offsetof(struct values, json)},
	{'v', "verbose", NULL, "say more", OPT_FLAG, offsetof(struct values, verbose)},
	{'n', "count", "N", "how many", OPT_INT, offsetof(struct values, count)},
	{0, "ranks", "N", "of them", OPT_COUNT, offsetof(struct values, ranks)},
	{'H', "host", "HOST", "a host", OPT_LIST, offsetof(struct values, hosts)},
	OPT_END,
};

struct parsed {
	struct values values;
	struct words arguments;
	size_t used;
	struct error err;
};

static int parse(struct scratch *s, const char *const *words, bool stop, struct parsed *p)
{
	*p = (struct parsed){.values.hosts = WORDS_INIT(&s->arena),
			     .arguments = WORDS_INIT(&s->arena)};
	return opt_parse(rows, words, stop, &p->values, &p->arguments, &p->used, &p->err);
}

static void test_forms(void **state)
{
	struct parsed p;

	assert_int_equal(parse(*state, WORDS("--file", "a"), false, &p), 0);
	assert_string_equal(p.values.file, "a");
	assert_int_equal(parse(*state, WORDS("--file=a"), false, &p), 0);
	assert_string_equal(p.values.file, "a");
	assert_int_equal(parse(*state, WORDS("--file="), false, &p), 0);
	assert_string_equal(p.values.file, "");
	assert_int_equal(parse(*state, WORDS("--file=a=b"), false, &p), 0);
	assert_string_equal(p.values.file, "a=b");
	assert_int_equal(parse(*state, WORDS("-f", "a"), false, &p), 0);
	assert_string_equal(p.values.file, "a");
	assert_int_equal(parse(*state, WORDS("-fa"), false, &p), 0);
	assert_string_equal(p.values.file, "a");
	assert_int_equal(parse(*state, WORDS("-f", "a", "-f", "b"), false, &p), 0);
	assert_string_equal(p.values.file, "b");
	assert_int_equal(parse(*state, WORDS("-n7", "-v", "--json"), false, &p), 0);
	assert_int_equal(p.values.count, 7);
	assert_true(p.values.verbose && p.values.json);
	assert_int_equal(parse(*state, WORDS(NULL), false, &p), 0);
	assert_null(p.values.file);
	assert_false(p.values.json);
}

static void test_list(void **state)
{
	struct parsed p;

	assert_int_equal(parse(*state, WORDS("-H", "a", "--host=b", "-Hc"), false, &p), 0);
	assert_int_equal(p.values.hosts.count, 3);
	assert_string_equal(p.values.hosts.list[0], "a");
	assert_string_equal(p.values.hosts.list[1], "b");
	assert_string_equal(p.values.hosts.list[2], "c");
}

static void test_words(void **state)
{
	struct scratch *s = *state;
	struct parsed p;
	struct words words = WORDS_INIT(&s->arena), none = WORDS_INIT(&s->arena);

	assert_int_equal(
		parse(s, WORDS("-H", "a b", "-v", "--ranks", "2", "-n0", "-Hc", "-fx", "--json"),
		      false, &p),
		0);
	opt_words(rows, &p.values, WORDS("json"), &words);
	assert_string_equal(words_join(&words, "|"),
			    "--file|x|--ranks=2|--host|a b|--host|c|--verbose");
	assert_int_equal(parse(s, WORDS(NULL), false, &p), 0);
	opt_words(rows, &p.values, WORDS(NULL), &none);
	assert_int_equal(none.count, 0);
}

static void test_arguments(void **state)
{
	struct parsed p;

	assert_int_equal(parse(*state, WORDS("x", "-v", "y", "-", "--", "-z", "--json"), false, &p),
			 0);
	assert_true(p.values.verbose);
	assert_false(p.values.json);
	assert_int_equal(p.arguments.count, 3);
	assert_string_equal(p.arguments.list[0], "x");
	assert_string_equal(p.arguments.list[1], "y");
	assert_string_equal(p.arguments.list[2], "-");
	assert_int_equal(p.used, 5); /* "-z" and "--json" are the caller's */
}

/* For exec: what follows the first argument is not ours. */
static void test_stop_at_argument(void **state)
{
	struct parsed p;

	assert_int_equal(parse(*state, WORDS("-v", "ls", "-v", "--json"), true, &p), 0);
	assert_int_equal(p.used, 1);
	assert_false(p.values.json);
	assert_int_equal(p.arguments.count, 0);
	assert_int_equal(parse(*state, WORDS("--json", "--", "-v", "--"), true, &p), 0);
	assert_int_equal(p.used, 2);
	assert_true(p.values.json);
	assert_false(p.values.verbose);
}

static void test_numbers(void **state)
{
	static const char *const bad[] = {
		"", "x", "1x", "-1", "1.5", "99999999999999999999", "2147483648"};
	struct parsed p;

	assert_int_equal(parse(*state, WORDS("--count", "2147483647"), false, &p), 0);
	assert_int_equal(p.values.count, 2147483647);
	assert_int_equal(parse(*state, WORDS("--count=0"), false, &p), 0);
	assert_int_equal(p.values.count, 0);
	assert_int_equal(parse(*state, WORDS("--ranks", "1"), false, &p), 0);
	assert_int_equal(p.values.ranks, 1);
	assert_int_equal(parse(*state, WORDS("--ranks", "00"), false, &p), -1);
	assert_has(p.err.text, "--ranks takes 1 or more, not '00'");
	assert_int_equal(parse(*state, WORDS("--ranks", "-1"), false, &p), -1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(parse(*state, WORDS("--count", bad[i]), false, &p), -1);
		assert_int_equal(p.err.kind, ERROR_USAGE);
		assert_has(p.err.text, "--count takes a whole number");
	}
}

static void test_errors(void **state)
{
	static const struct {
		const char *word, *says;
	} cases[] = {
		{"--jsn", "unknown option '--jsn'; did you mean '--json'?"},
		{"--verbos=1", "did you mean '--verbose'?"},
		{"--kubernetes", "unknown option '--kubernetes'; see --help"},
		{"-x", "unknown option '-x'; see --help"},
		{"--json=1", "--json takes no value"},
		{"-v1", "--verbose takes no value"},
		{"--file", "--file needs a value: FILE"},
		{"-f", "-f needs a value: FILE"},
		{"--=x", "unknown option"},
		{"--hos", "did you mean '--host'?"},
	};
	struct parsed p;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(parse(*state, WORDS(cases[i].word), false, &p), -1);
		assert_int_equal(p.err.kind, ERROR_USAGE);
		assert_has(p.err.text, cases[i].says);
	}
}

static void test_help(void **state)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_non_null(out);
	opt_help(rows, out);
	fclose(out);
	assert_has(text, "  -f, --file FILE");
	assert_has(text, "cluster file\n");
	assert_has(text, "      --json  ");
	assert_has(text, "-H, --host HOST");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_forms),
		SCRATCH_TEST(test_list),
		SCRATCH_TEST(test_words),
		SCRATCH_TEST(test_arguments),
		SCRATCH_TEST(test_stop_at_argument),
		SCRATCH_TEST(test_numbers),
		SCRATCH_TEST(test_errors),
		SCRATCH_TEST(test_help),
	};

	return cmocka_run_group_tests_name("opt", tests, NULL, NULL);
}
