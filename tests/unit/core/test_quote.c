/* SPDX-License-Identifier: MIT */
/* Quoted words reach a real sh as they were. */
#include "tests/unit/support.h"

#include "core/proc.h"
#include "core/quote.h"
#include "core/words.h"

static const char *const awkward[] = {
	"",
	" ",
	"plain",
	"two words",
	"  spaces around  ",
	"tab\there",
	"line\nbreak",
	"\n",
	"'",
	"''",
	"it's",
	"'quoted'",
	"\"",
	"a\"b'c\"d",
	"\\",
	"\\\\",
	"back\\slash\\",
	"\\n",
	"$HOME",
	"${HOME}",
	"$(id)",
	"`id`",
	"$((1+1))",
	"a;b",
	"a&b",
	"a|b",
	"a>b",
	"<a",
	"(a)",
	"{a,b}",
	"[a-z]*",
	"*",
	"?",
	"~",
	"~root",
	"!",
	"!!",
	"#comment",
	"a#b",
	"-n",
	"--",
	"-",
	"=",
	"a=b",
	"%s%n",
	"^",
	"\x01\x02\x7f",
	"gr\xc3\xbc\xc3\x9f"
	"e \xe2\x82\xac",
	"\xff\xfe",
	"device=0,1",
	"\"device=0,1\",\"capabilities=compute,utility\"",
	"{{index .Config.Labels \"org.ringup.config\"}}",
	"a\rb",
	"if",
};

/* What sh prints when it is given the line. */
static void run_line(const char *line, struct proc_result *result)
{
	struct error err = {0};
	struct proc proc = {.words = WORDS("sh", "-c", line), .timeout_s = 20};

	assert_fine(proc_run(&proc, result, &err));
}

static void test_each_word(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(awkward); i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};
		_cleanup_(str_release) struct str line = STR_INIT;

		str_add(&line, "printf '%s\\n' ");
		quote_word(&line, awkward[i]);
		run_line(line.text, &result);
		assert_int_equal(result.status, 0);
		assert_int_equal(result.out.length, strlen(awkward[i]) + 1);
		assert_memory_equal(result.out.text, awkward[i], strlen(awkward[i]));
	}
}

static void test_all_words_at_once(void **state)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(str_release) struct str line = STR_INIT, wanted = STR_INIT;
	struct words words = WORDS_INIT(&arena);

	(void)state;
	words_add_all(&words, WORDS("printf", "%s\\n"));
	for (size_t i = 0; i < ARRAY_LEN(awkward); i++) {
		words_add(&words, awkward[i]);
		str_addf(&wanted, "%s\n", awkward[i]);
	}
	quote_words(&line, words.list);
	run_line(line.text, &result);
	assert_int_equal(result.out.length, wanted.length);
	assert_memory_equal(result.out.text, wanted.text, wanted.length);
}

/* Every login shell that OpenSSH may start gives the words on as they are. */
static void test_login_shells(void **state)
{
	static const char *const shells[] = {"sh", "bash", "tcsh", "fish"};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(str_release) struct str line = STR_INIT, sent = STR_INIT, wanted = STR_INIT;
	struct words words = WORDS_INIT(&arena);

	(void)state;
	words_add_all(&words, WORDS("sh", "-c", "printf '%s\\n' \"$@\" 'a\\b!'\nexit 7", "sh"));
	for (size_t i = 0; i < ARRAY_LEN(awkward); i++) {
		words_add(&words, awkward[i]);
		str_addf(&wanted, "%s\n", awkward[i]);
	}
	str_add(&wanted, "a\\b!\n");
	quote_words(&line, words.list);
	quote_for_login_shell(&sent, line.text);
	for (size_t i = 0; i < ARRAY_LEN(shells); i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};
		struct proc proc = {.words = WORDS(shells[i], "-c", sent.text), .timeout_s = 20};
		struct error err = {0};

		assert_fine(proc_run(&proc, &result, &err));
		if (result.status != 7 || result.out.length != wanted.length ||
		    memcmp(result.out.text, wanted.text, wanted.length) != 0)
			fail_msg("%s: status %d: %s%s", shells[i], result.status, result.out.text,
				 result.err.text);
	}
	str_clear(&sent);
	quote_for_login_shell(&sent, "docker ps 'a b'");
	assert_string_equal(sent.text, "docker ps 'a b'");
}

/* A line that is quoted again, as for "ssh HOST 'sh -c ...'", still says the same. */
static void test_twice(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(str_release) struct str inner = STR_INIT, outer = STR_INIT;

	(void)state;
	quote_words(&inner, WORDS("printf", "%s", "it's $HOME \"x\" \\ *"));
	quote_words(&outer, WORDS("sh", "-c", inner.text));
	run_line(outer.text, &result);
	assert_string_equal(result.out.text, "it's $HOME \"x\" \\ *");
}

/* Words that people paste stay readable. */
static void test_plain_words_stay_plain(void **state)
{
	_cleanup_(str_release) struct str line = STR_INIT;

	(void)state;
	quote_words(&line,
		    WORDS("docker", "pull", "10.0.0.1:5000/team/train@sha256:ab", "--quiet"));
	assert_string_equal(line.text, "docker pull 10.0.0.1:5000/team/train@sha256:ab --quiet");
	str_clear(&line);
	quote_words(&line, WORDS(NULL));
	assert_string_equal(line.text, "");
}

/* The first word is a program's name, never an assignment or a keyword of the shell. */
static void test_first_word_is_a_program(void **state)
{
	static const char *const names[] = {"RINGUP_UNIT=1", "if",	 "while",
					    "case",	     "function", "[["};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};
		_cleanup_(str_release) struct str line = STR_INIT;

		quote_words(&line, WORDS(names[i], "x"));
		run_line(line.text, &result);
		assert_int_equal(result.status, 127);
		assert_has(result.err.text, "not found");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_word),
		cmocka_unit_test(test_all_words_at_once),
		cmocka_unit_test(test_login_shells),
		cmocka_unit_test(test_twice),
		cmocka_unit_test(test_plain_words_stay_plain),
		cmocka_unit_test(test_first_word_is_a_program),
	};

	return cmocka_run_group_tests_name("quote", tests, NULL, NULL);
}
