/* SPDX-License-Identifier: MIT */
/* What a job's supervisors and its person say: the lines of the protocol, and the keys of a terminal. */
#include "tests/unit/deployer/fleet_support.h"

#include "deployer/job/console/keyboard.h"
#include "deployer/job/talk.h"

static struct job_event event_of(struct scratch *s, const char *line)
{
	struct job_event event;

	job_event_read(arena_strdup(&s->arena, line), &event);
	return event;
}

static void test_events(void **state)
{
	struct job_event e = event_of(*state, "o 12 a\\\\n b\\nc ");

	assert_int_equal(e.kind, JOB_EVENT_OUTPUT);
	assert_string_equal(e.label, "12");
	assert_string_equal(e.text, "a\\n b\nc ");
	assert_true(e.is_whole && !e.is_error);
	e = event_of(*state, "E t0 half");
	assert_true(e.kind == JOB_EVENT_OUTPUT && !e.is_whole && e.is_error);
	assert_int_equal(job_label_rank(e.label), -1);
	e = event_of(*state, "o 3 ");
	assert_true(e.kind == JOB_EVENT_OUTPUT && !*e.text && !e.length);
	e = event_of(*state, "o 3 a\\0b\\\\0");
	assert_memory_equal(e.text, "a\0b\\0", 6);
	assert_int_equal(e.length, 5);
	e = event_of(*state, "exit 3 139");
	assert_true(e.kind == JOB_EVENT_EXIT && e.number == 139);
	e = event_of(*state, "join 5 -1 0");
	assert_true(e.kind == JOB_EVENT_JOIN && e.rank == 5 && e.world == -1);
	e = event_of(*state, "fact interface eth0");
	assert_true(e.kind == JOB_EVENT_FACT && strcmp(e.label, "interface") == 0);
	e = event_of(*state, "spawn 4 10.0.0.2 sh -c \\\\a\\nb");
	assert_true(e.kind == JOB_EVENT_SPAWN && e.number == 4);
	assert_string_equal(e.label, "10.0.0.2");
	assert_string_equal(e.text, "sh -c \\a\nb");
	assert_int_equal(event_of(*state, "hello 1").number, 1);
	assert_int_equal(event_of(*state, "left 2").number, 2);
	assert_true(event_of(*state, "took 4096").kind == JOB_EVENT_TOOK);
	assert_int_equal(event_of(*state, "took 4096").number, 4096);
	assert_int_equal(event_of(*state, "closed").kind, JOB_EVENT_CLOSED);
	assert_int_equal(event_of(*state, "done").kind, JOB_EVENT_DONE);
}

static void test_no_events(void **state)
{
	static const char *const lines[] = {
		"",
		"o",
		"o x y",
		"o -1 y",
		"o t y",
		"o 12345678901234567 y",
		"exit 3",
		"exit 3 256",
		"exit 3 -1",
		"exit three 1",
		"join",
		"join -2 3",
		"hello",
		"left many",
		"spawn",
		"spawn 1",
		"spawn 1 host",
		"spawn 1 host ",
		"spawn x host command",
		"spawn -1 host command",
		"took",
		"took -1",
		"Warning: Permanently added 'x' to the list of known hosts.",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		assert_int_equal(event_of(*state, lines[i]).kind, JOB_EVENT_NONE);
}

static void test_say(void **state)
{
	_cleanup_(str_release) struct str out = STR_INIT;

	(void)state;
	job_say(&out, "word", "a\\b\nc d");
	job_say(&out, "word", "");
	job_say(&out, "go", NULL);
	assert_string_equal(out.text, "word a\\\\b\\nc d\nword \ngo\n");
}

/* Escapes of ssh(1): "~." at the begin of a line ends, "~~" is one "~", and keys may come one by one. */
static void test_keys(void **state)
{
	static const struct {
		const char *typed, *expected;
		bool ends;
	} cases[] = {{"a~.b\r~~c\r~d", "a~.b\r~c\r~d", false},
		     {"~.more", "", true},
		     {"x\r~.", "x\r", true},
		     {"~~.", "~.", false},
		     {"x\n~\r~.", "x\n~\r", true},
		     {"~", "", false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		for (size_t step = 1; step <= 3; step += 2) {
			struct keyboard_keys keys = KEYBOARD_KEYS_INIT;
			size_t length = strlen(cases[i].typed), count = 0;
			char out[32] = {0};
			bool ends = false;

			for (size_t at = 0; at < length && !ends; at += step)
				count += keyboard_filter(&keys, cases[i].typed + at,
							 length - at < step ? length - at : step,
							 out + count, &ends);
			assert_string_equal(out, cases[i].expected);
			assert_int_equal(ends, cases[i].ends);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		FLEET_TEST(test_events),
		FLEET_TEST(test_no_events),
		FLEET_TEST(test_say),
		FLEET_TEST(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
