/* SPDX-License-Identifier: MIT */
/* What .ringupignore leaves out; git check-ignore says the same. */
#include "tests/unit/support.h"

#include "deployer/job/sync/ignore.h"

static bool leaves_out(struct scratch *s, const char *patterns, const char *path, bool is_folder)
{
	struct ignore ignore;

	ignore_init(&ignore, &s->arena);
	ignore_add(&ignore, patterns);
	return ignore_has(&ignore, path, is_folder);
}

/* Patterns, then the paths that fit and those that do not; a folder's ends in '/'. */
static const struct {
	const char *patterns;
	const char *out[5], *in[5];
} cases[] = {
	{"*.ckpt", {"a.ckpt", "a/b/c.ckpt", "x.ckpt/"}, {"a.ckpt.txt", "ckpt"}},
	{"data/", {"data/", "a/data/"}, {"data", "a/data", "data2/"}},
	{"/data", {"data", "data/"}, {"a/data", "a/data/"}},
	{"a/b", {"a/b", "a/b/"}, {"c/a/b", "a/bb"}},
	{"a/*.py", {"a/x.py"}, {"a/b/x.py", "x.py", "b/a/x.py"}},
	{"**/logs", {"logs", "a/logs/", "a/b/logs"}, {"logs2", "a/logs2"}},
	{"a/**", {"a/x", "a/b/c/"}, {"a", "a/", "b/a/x"}},
	{"a/**/b", {"a/b", "a/x/b", "a/x/y/b"}, {"a/bb", "x/a/b", "a/x"}},
	{"a/**/b/**/c", {"a/b/c", "a/1/b/2/3/c", "a/b/b/c/c"}, {"a/c", "a/b", "a/c/b"}},
	{"**", {"a", "a/b", "c/"}, {NULL}},
	{"?.txt", {"a.txt", "b/a.txt"}, {"ab.txt", ".txt"}},
	{"[a-c]x", {"ax", "d/cx"}, {"dx", "x"}},
	{"# no\n\n\\#yes", {"#yes"}, {"# no", "no", "yes"}},
	{"\\!x", {"!x"}, {"x"}},
	{"two words  \r\nlast\\ ", {"two words", "last "}, {"two words  ", "last"}},
	{"*.log\n!keep.log", {"a.log", "b/a.log"}, {"keep.log", "b/keep.log"}},
	{"!keep.log\n*.log", {"keep.log"}, {"keep"}},
	{"*\n!*.py", {"a", "a.txt", "b/"}, {"a.py"}},
	{"",
	 {".git/", ".git", "a/.git/", "__pycache__/", "a/__pycache__/"},
	 {"git", "__pycache__"}},
	{"!.git\n!__pycache__/", {".ringup/"}, {".git/", "__pycache__/"}},
	{"!.ringup\n!.ringup/\n!.ringup-sync", {".ringup/", "a/.ringup/", ".ringup-sync/"}, {"x"}},
	{"/\n//\n!\n!/\n", {NULL}, {"a", "a/"}},
	{"x\xff*", {"x\xff", "x\xff\xfe"}, {"x", "xa"}},
	{"[", {NULL}, {"a"}},
};

static bool is_out(struct scratch *s, const char *patterns, const char *path)
{
	size_t length = strlen(path);
	bool is_folder = path[length - 1] == '/';

	return leaves_out(s, patterns, arena_strndup(&s->arena, path, length - is_folder),
			  is_folder);
}

static void test_patterns(void **state)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (size_t k = 0; k < 5 && cases[i].out[k]; k++)
			if (!is_out(*state, cases[i].patterns, cases[i].out[k]))
				fail_msg("'%s' takes '%s'", cases[i].patterns, cases[i].out[k]);
		for (size_t k = 0; k < 5 && cases[i].in[k]; k++)
			if (is_out(*state, cases[i].patterns, cases[i].in[k]))
				fail_msg("'%s' leaves out '%s'", cases[i].patterns, cases[i].in[k]);
	}
}

/* A pattern that would take for ever if each "**" were tried again. */
static void test_many_stars(void **state)
{
	struct scratch *s = *state;
	_cleanup_(str_release) struct str pattern = STR_INIT, path = STR_INIT;

	for (int i = 0; i < 200; i++) {
		str_add(&pattern, "a/**/");
		str_add(&path, "a/a/a/");
	}
	str_add(&pattern, "b");
	str_add(&path, "c");
	assert_false(leaves_out(s, pattern.text, path.text, false));
}

static void test_file(void **state)
{
	struct scratch *s = *state;
	struct ignore ignore;
	struct error err = {0};

	ignore_init(&ignore, &s->arena);
	assert_fine(ignore_load(&ignore, s->folder, &err));
	assert_false(ignore_has(&ignore, "a.log", false));
	assert_fine(file_write(in(s, IGNORE_FILE), "*.log\n", 6, 0644, &err));
	assert_fine(ignore_load(&ignore, s->folder, &err));
	assert_true(ignore_has(&ignore, "a.log", false));
	unlink(in(s, IGNORE_FILE));
	assert_int_equal(mkdir(in(s, IGNORE_FILE), 0700), 0);
	assert_fails(ignore_load(&ignore, s->folder, &err), ERROR_FAILED, IGNORE_FILE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_patterns),
		SCRATCH_TEST(test_many_stars),
		SCRATCH_TEST(test_file),
	};

	return cmocka_run_group_tests_name("ignore", tests, NULL, NULL);
}
