/* SPDX-License-Identifier: MIT */
/* Where the ranks of a job are that hangs, by what py-spy, faulthandler, gdb and the kernel print. */
#include "tests/unit/support.h"

#include "deployer/job/hang.h"

struct said {
	int rank;
	const char *text; /* lines */
};

static const char *places(struct scratch *s, int world, const struct said *said)
{
	struct job_hang *hang = job_hang_new(world, &s->arena);

	for (; said->text; said++) {
		char *lines = arena_strdup(&s->arena, said->text), *line;

		while ((line = strsep(&lines, "\n")))
			job_hang_hear(hang, said->rank, line);
	}
	return job_hang_places(hang, &s->arena);
}

/* Recorded with CPython 3.12, torch 2.11.0 and py-spy 0.4.2; the paths are shorter. */
static const char py_spy_waits[] =
	"pid 3039 state R waits in 0: python3 /data/train.py \n"
	"Process 3039: python3 /data/train.py hang\n"
	"Python v3.12.3 (/usr/bin/python3.12)\n"
	"\n"
	"Thread 3039 (active): \"MainThread\"\n"
	"    synchronize (/opt/venv/lib/python3.12/site-packages/torch/cuda/__init__.py:1162)\n"
	"    <module> (/data/train.py:139)\n"
	"Thread 3050 (idle): \"Thread-1\"\n"
	"    wait (/usr/lib/python3.12/threading.py:359)";
static const char py_spy_stuck[] = "Thread 3040 (idle): \"MainThread\"\n"
				   "    Loader.next (/data/train.py:137)\n"
				   "    <module> (/data/train.py:138)";
/* Recorded with CPython 3.11.7. */
static const char faulthandler_waits[] =
	"Fatal Python error: Aborted\n"
	"\n"
	"Thread 0x00007f1a0f7636c0 (most recent call first):\n"
	"  File \"/data/train.py\", line 8 in <lambda>\n"
	"  File \"/usr/lib/python3.11/threading.py\", line 982 in run\n"
	"\n"
	"Current thread 0x00007f1a103c2b80 (most recent call first):\n"
	"  File \"/usr/lib/python3.11/threading.py\", line 327 in wait\n"
	"  File \"/usr/lib/python3.11/threading.py\", line 629 in wait\n"
	"  File \"/data/train.py\", line 4 in wait_for_others\n"
	"  File \"/data/train.py\", line 11 in <module>";
/* Recorded with gdb 13.1. */
static const char gdb_waits[] =
	"#0  __GI___clock_nanosleep (clock_id=clock_id@entry=0, req=req@entry=0x7ffd) at ../sysdeps/unix/sysv/linux/clock_nanosleep.c:71\n"
	"#1  0x00007fcff693de53 in __GI___nanosleep (req=req@entry=0x7ffc) at ../sysdeps/unix/sysv/linux/nanosleep.c:25\n"
	"#2  0x00007fcff693dd8a in __sleep (seconds=0) at ../sysdeps/posix/sleep.c:55\n"
	"#3  0x000055781081d187 in wait_for_peer () at spin.c:4\n"
	"#4  0x000055781081d1cf in main () at spin.c:5";
static const char gdb_library[] = "#0  0x00007f0a in poll () from /lib/x86_64-linux-gnu/libc.so.6\n"
				  "#1  0x00005578 in recv_all ()\n"
				  "#2  0x00005579 in main ()";

static void test_the_rank_that_is_elsewhere_comes_first(void **state)
{
	const struct said said[] = {
		{0, py_spy_waits}, {1, py_spy_stuck}, {2, py_spy_waits}, {3, py_spy_waits}, {0}};

	assert_string_equal(
		places(*state, 4, said),
		"\n  rank 1: next (/data/train.py:137)"
		"\n  ranks 0, 2-3 (3): synchronize (torch/cuda/__init__.py:1162) from <module> (/data/train.py:139)");
}

static void test_every_tool_is_read(void **state)
{
	const struct said said[] = {{0, faulthandler_waits},
				    {1, gdb_waits},
				    {2, gdb_library},
				    {3, "pid 9 state S waits in futex_wait: ./train\n"
					"pid 10 state S waits in pipe_read: ./loader"},
				    {4, "pid 11 state R waits in 0: ./train"},
				    {0}};

	assert_string_equal(
		places(*state, 5, said),
		"\n  rank 0: wait (threading.py:327) from wait_for_others (/data/train.py:4)"
		"\n  rank 1: __GI___clock_nanosleep from wait_for_peer (spin.c:4)"
		"\n  rank 2: poll from recv_all"
		"\n  rank 3: waits in futex_wait: ./train"
		"\n  rank 4: runs: ./train");
}

static void test_nothing_said(void **state)
{
	const struct said said[] = {{0}}, one[] = {{2, py_spy_stuck}, {0}};

	assert_string_equal(places(*state, 3, said), "");
	assert_string_equal(places(*state, 3, one), "\n  rank 2: next (/data/train.py:137)");
}

static void test_many_places_are_few_lines(void **state)
{
	struct job_hang *hang = job_hang_new(1000, &((struct scratch *)*state)->arena);
	const char *text;

	for (int i = 0; i < 1000; i++) {
		char line[80];

		snprintf(line, sizeof(line), "pid %d state S waits in place%d: x", i,
			 i < 20	 ? i
			 : i % 2 ? 98
				 : 99);
		job_hang_hear(hang, i, line);
	}
	text = job_hang_places(hang, &((struct scratch *)*state)->arena);
	assert_non_null(strstr(text, "\n  rank 4: waits in place4: x\n  and 17 more places"));
	assert_null(strstr(text, "place5"));
}

/* Half lines and long words, as a host may send them: no crash, and no long place. */
static void test_hostile_stacks(void **state)
{
	static const char *const texts[] = {
		"pid ",
		"pid 7 state ",
		"pid 7 state S waits in ",
		" waits in x: state R",
		"pid 7 waits in x state R",
		"#0 ",
		"#0  in ",
		"#0   at :",
		"Current thread ",
		"  File \"",
		"  File \"\", line  in ",
		"  File \"a\", line 99999999999999999999 in f",
		"    ",
		"     (:",
		"    (:",
		"   : (",
		"#1 at :",
		"    . (:1)",
		"    f (/lib/python:1)",
		"    f (/lib/python3.11:1)",
		"    f (site-packages/:1)",
	};
	char line[5000] = "    ";

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct said said[] = {{0, "Thread 1 (idle): \"MainThread\""}, {0, texts[i]}, {0}};

		places(*state, 1, said);
		said[0].text = texts[i];
		places(*state, 1, said);
	}
	memset(line + 4, 'x', sizeof(line) - 5);
	memcpy(line + 3000, " (a:1)", 6);
	struct said said[] = {{0, "Thread 1 (idle): \"MainThread\""}, {0, line}, {0}};
	assert_true(strlen(places(*state, 1, said)) < 400);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_the_rank_that_is_elsewhere_comes_first),
		SCRATCH_TEST(test_every_tool_is_read),
		SCRATCH_TEST(test_nothing_said),
		SCRATCH_TEST(test_many_places_are_few_lines),
		SCRATCH_TEST(test_hostile_stacks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
