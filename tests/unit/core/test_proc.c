/* SPDX-License-Identifier: MIT */
/* Programs on this machine: status, output, input, deadlines. */
#include "tests/unit/support.h"

#include "core/clock.h"
#include "core/proc.h"
#include "core/words.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>

#define SH(text) WORDS("sh", "-c", text)

static void run(const struct proc *proc, struct proc_result *result)
{
	struct error err = {0};

	assert_fine(proc_run(proc, result, &err));
}

static void test_statuses(void **state)
{
	static const struct {
		const char *text;
		int status;
	} cases[] = {{"exit 0", 0},	  {"exit 7", 7},	  {"exit 255", 255},
		     {"kill -9 $$", 137}, {"kill -TERM $$", 143}, {"kill -PIPE $$", 141}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(proc_result_release) struct proc_result result = {0};

		run(&(struct proc){.words = SH(cases[i].text)}, &result);
		assert_int_equal(result.status, cases[i].status);
	}
}

static void test_not_found(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error err = {0};

	(void)state;
	run(&(struct proc){.words = WORDS("ringup-no-such-program")}, &result);
	assert_int_equal(result.status, 127);
	assert_has(result.err.text, "ringup-no-such-program: No such file or directory");
	assert_fails(proc_check(WORDS("ringup-no-such-program"), &err), ERROR_FAILED,
		     "ringup-no-such-program failed (status 127)");
	assert_false(proc_exists("ringup-no-such-program"));
	assert_true(proc_exists("sh"));
}

static void test_outputs_apart(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&(struct proc){.words = SH("echo out; echo err >&2; printf end")}, &result);
	assert_string_equal(result.out.text, "out\nend");
	assert_string_equal(result.err.text, "err\n");
}

/* More than a pipe holds, on both at once. */
static void test_big_output(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&(struct
	      proc){.words = SH(
			    "head -c 3000000 /dev/zero | tr '\\0' x; head -c 2000000 /dev/zero | tr '\\0' y >&2"),
		    .timeout_s = 60},
	    &result);
	assert_int_equal(result.status, 0);
	assert_int_equal(result.out.length, 3000000);
	assert_int_equal(result.err.length, 2000000);
	assert_int_equal(strspn(result.out.text, "x"), 3000000);
}

/* What is past the ceiling is dropped; the program still runs to its end. */
static void test_output_ceiling(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&(struct proc){.words = SH("head -c 20000000 /dev/zero; exit 3"), .timeout_s = 60},
	    &result);
	assert_int_equal(result.status, 3);
	assert_int_equal(result.out.length, PROC_OUTPUT_CEILING_BYTES);
	assert_true(result.out.overflowed);
}

static void test_input(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0}, none = {0}, deaf = {0};
	char *big = arena_alloc(&s->arena, 1000001);

	memset(big, 'z', 1000000);
	run(&(struct proc){.words = WORDS("cat"), .input = big, .input_bytes = 1000000}, &result);
	assert_int_equal(result.out.length, 1000000);
	assert_string_equal(result.out.text, big);
	run(&(struct proc){.words = WORDS("cat")}, &none);
	assert_int_equal(none.out.length, 0);
	/* a program that does not read its input is no failure */
	run(&(struct proc){.words = WORDS("true"), .input = big, .input_bytes = 1000000}, &deaf);
	assert_int_equal(deaf.status, 0);
}

/* Its end would be seen as a read that ends. */
static void test_held_input(void **state)
{
	const struct proc proc = {
		.words = SH(
			"exec 3<&0; head -c 3; cat <&3 & sleep 0.3; kill -0 $! && echo ' open'; kill $!"),
		.input = "abc",
		.input_bytes = 3,
		.holds_input = true};
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&proc, &result);
	assert_int_equal(result.status, 0);
	assert_string_equal(result.out.text, "abc open\n");
}

static void test_held_input_without_bytes(void **state)
{
	const struct proc proc = {
		.words = SH("exec 3<&0; cat <&3 & sleep 0.3; kill -0 $! && echo open; kill $!"),
		.holds_input = true};
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&proc, &result);
	assert_string_equal(result.out.text, "open\n");
}

/* Lines are given and forgotten, so that a program may print for ever. */
static void count_line(void *arg, const char *line)
{
	size_t *bytes = arg;

	*bytes += strlen(line) + 1;
}

static void test_only_lines(void **state)
{
	size_t bytes = 0;
	const struct proc proc = {.words = SH("yes | head -c 40000000; printf rest"),
				  .line = count_line,
				  .arg = &bytes,
				  .only_lines = true};
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&proc, &result);
	assert_int_equal(bytes, 40000005);
	assert_false(result.out.overflowed);
	assert_in_range(result.out.length, 0, 100000);
}

static void test_empty_input(void **state)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	(void)state;
	run(&(struct proc){.words = WORDS("cat"), .input = "", .input_bytes = 0, .timeout_s = 10},
	    &result);
	assert_int_equal(result.status, 0);
	assert_int_equal(result.out.length, 0);
}

static void test_descriptors(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	FILE *in_file = fopen(put(s, "in", "from a file"), "re");
	FILE *out_file = fopen(in(s, "out"), "we");

	assert_non_null(in_file);
	assert_non_null(out_file);
	run(&(struct proc){.words = WORDS("cat"),
			   .input_fd = fileno(in_file),
			   .output_fd = fileno(out_file)},
	    &result);
	fclose(in_file);
	fclose(out_file);
	assert_string_equal(result.out.text, "");
	assert_string_equal(slurp(s, in(s, "out")), "from a file");
}

/* The program sees stdin, stdout and stderr, and nothing that we hold open. */
static void test_no_other_descriptors(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	FILE *held = fopen(put(s, "held", "x"), "r");

	assert_non_null(held);
	run(&(struct proc){.words = WORDS("ls", "/proc/self/fd")}, &result);
	fclose(held);
	assert_string_equal(result.out.text, "0\n1\n2\n3\n"); /* 3: the folder that ls lists */
}

static void test_env_and_folder(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0}, missing = {0};

	setenv("RINGUP_UNIT_KEPT", "kept", 1);
	run(&(struct proc){.words = SH(
				   "printf '%s %s ' \"$RINGUP_UNIT_KEPT\" \"$RINGUP_UNIT\"; pwd"),
			   .env = WORDS("RINGUP_UNIT=a b"),
			   .folder = s->folder},
	    &result);
	assert_string_equal(result.out.text, arena_printf(&s->arena, "kept a b %s\n", s->folder));
	assert_null(getenv("RINGUP_UNIT"));
	run(&(struct proc){.words = WORDS("true"), .folder = in(s, "none")}, &missing);
	assert_int_not_equal(missing.status, 0);
	assert_has(missing.err.text, in(s, "none"));
}

struct lines {
	struct scratch *scratch;
	struct words words;
};

static void keep_line(void *arg, const char *line)
{
	words_add(&((struct lines *)arg)->words, line);
}

static void test_lines(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct lines lines = {s, WORDS_INIT(&s->arena)};

	run(&(struct proc){.words = SH("printf 'a\\n\\nb'; sleep 0.1; printf 'c\\nlast'"),
			   .line = keep_line,
			   .arg = &lines},
	    &result);
	assert_int_equal(lines.words.count, 4);
	assert_string_equal(lines.words.list[0], "a");
	assert_string_equal(lines.words.list[1], "");
	assert_string_equal(lines.words.list[2], "bc");
	assert_string_equal(lines.words.list[3], "last");
	assert_string_equal(result.out.text, "a\n\nbc\nlast");
}

static void test_lines_of_both(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct lines lines = {s, WORDS_INIT(&s->arena)};

	run(&(struct proc){.words = SH("echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three"),
			   .line = keep_line,
			   .arg = &lines},
	    &result);
	assert_int_equal(lines.words.count, 3);
	assert_string_equal(lines.words.list[1], "two");
	assert_string_equal(lines.words.list[2], "three");
}

/* A NUL byte in a line does not swallow the lines after it. */
static void test_lines_after_a_nul(void **state)
{
	struct scratch *s = *state;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct lines lines = {s, WORDS_INIT(&s->arena)};

	run(&(struct proc){.words = SH("printf 'a\\000b\\nc\\nd\\n'"),
			   .line = keep_line,
			   .arg = &lines},
	    &result);
	assert_int_equal(lines.words.count, 3);
	assert_string_equal(lines.words.list[1], "c");
	assert_string_equal(lines.words.list[2], "d");
}

/* Fails with "did not end in time", within a few seconds. */
static void check_deadline(const char *text)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	uint64_t start = clock_usec();
	struct proc proc = {.words = SH(text), .timeout_s = 1};
	struct error err = {0};

	assert_fails(proc_run(&proc, &result, &err), ERROR_FAILED, "did not end in time");
	assert_true(clock_seconds_since(start) < 10);
}

/* The deadline ends what the program started, too. */
static void test_deadline_ends_the_group(void **state)
{
	struct scratch *s = *state;
	const char *pid_file = in(s, "pid");
	pid_t child;

	check_deadline(arena_printf(&s->arena, "sleep 61 & echo $! >%s; wait", pid_file));
	child = (pid_t)strtol(slurp(s, pid_file), NULL, 10);
	assert_true(child > 1);
	for (int i = 0; i < 50 && kill(child, 0) == 0; i++) {
		char line[256] = "";
		FILE *stat = fopen(arena_printf(&s->arena, "/proc/%d/stat", (int)child), "re");

		if (stat) {
			if (!fgets(line, sizeof(line), stat))
				line[0] = '\0';
			fclose(stat);
		}
		if (strstr(line, ") Z "))
			return; /* ended; nobody reaps it here */
		usleep(100000);
	}
	assert_int_equal(kill(child, 0), -1);
}

static void test_deadline_of_who_ignores_signals(void **state)
{
	(void)state;
	check_deadline("trap '' TERM INT; while :; do sleep 0.2; done");
}

/* Closed outputs are not the end. The alarm ends this test if the deadline is not kept. */
static void test_deadline_with_closed_outputs(void **state)
{
	(void)state;
	alarm(20);
	check_deadline("exec >&- 2>&-; sleep 30");
	alarm(0);
}

static void test_failed_says_the_last_words(void **state)
{
	struct error err = {0};

	(void)state;
	assert_fails(proc_check(SH("echo step; echo E: no such package >&2; exit 100"), &err),
		     ERROR_FAILED, "sh failed (status 100): E: no such package");
	assert_fails(proc_check(SH("echo only out; exit 1"), &err), ERROR_FAILED,
		     "(status 1): only out");
	assert_fails(proc_check(SH("exit 1"), &err), ERROR_FAILED, "sh failed (status 1)");
	assert_fails(proc_check(SH("seq 1 100000 >&2; echo the end >&2; exit 1"), &err),
		     ERROR_FAILED, "the end");
	err = (struct error){0};
	assert_fine(proc_check(SH("exit 0"), &err));
}

static void test_spawn(void **state)
{
	struct scratch *s = *state;
	struct error err = {0};
	pid_t pid = 0;
	int status;

	put(s, "log", "before\n");
	assert_fine(proc_spawn(SH("echo \"$A\"; echo err >&2; cat; cut -d' ' -f6 /proc/$$/stat"),
			       WORDS("A=b"), in(s, "log"), &pid, &err));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_string_equal(slurp(s, in(s, "log")),
			    arena_printf(&s->arena, "before\nb\nerr\n%d\n", (int)pid));
	assert_fails(proc_spawn(WORDS("true"), NULL, in(s, "none/log"), &pid, &err), ERROR_FAILED,
		     in(s, "none/log"));
}

/* As when ringup itself was started with 0, 1 and 2 closed. */
static void test_without_own_descriptors(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		struct proc_result result = {0};
		struct error err = {0};
		struct proc proc = {.words = SH("cat; echo out; echo err >&2"), .timeout_s = 10};

		close(0);
		close(1);
		close(2);
		if (proc_run(&proc, &result, &err) < 0)
			_exit(1);
		if (strcmp(result.out.text, "out\n") != 0)
			_exit(2);
		_exit(strcmp(result.err.text, "err\n") == 0 ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_statuses),
		SCRATCH_TEST(test_not_found),
		SCRATCH_TEST(test_outputs_apart),
		SCRATCH_TEST(test_big_output),
		SCRATCH_TEST(test_output_ceiling),
		SCRATCH_TEST(test_input),
		SCRATCH_TEST(test_held_input),
		SCRATCH_TEST(test_held_input_without_bytes),
		SCRATCH_TEST(test_only_lines),
		SCRATCH_TEST(test_empty_input),
		SCRATCH_TEST(test_descriptors),
		SCRATCH_TEST(test_no_other_descriptors),
		SCRATCH_TEST(test_env_and_folder),
		SCRATCH_TEST(test_lines),
		SCRATCH_TEST(test_lines_of_both),
		SCRATCH_TEST(test_lines_after_a_nul),
		SCRATCH_TEST(test_deadline_ends_the_group),
		SCRATCH_TEST(test_deadline_of_who_ignores_signals),
		SCRATCH_TEST(test_deadline_with_closed_outputs),
		SCRATCH_TEST(test_failed_says_the_last_words),
		SCRATCH_TEST(test_spawn),
		SCRATCH_TEST(test_without_own_descriptors),
	};

	interrupt_setup(); /* as main does: a closed pipe is an error, no signal */
	return cmocka_run_group_tests_name("proc", tests, NULL, NULL);
}
