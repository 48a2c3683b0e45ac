/* SPDX-License-Identifier: MIT */
/*
 * Why a job died: each row of recipes/job-failures.csv against a recorded output, and outputs of jobs
 * that succeeded, which must give nothing. tests/cases/job-failures/README.md says how one is written.
 */
#include "tests/unit/support.h"

#include "core/str.h"
#include "core/table.h"
#include "deployer/diagnosis/diagnosis.h"

#include <dirent.h>
#include <stdio.h>

static const struct diagnoses *table_of(struct scratch *s)
{
	const struct diagnoses *table;
	struct error err = {0};

	source_root(s);
	assert_fine(diagnoses_load(&s->arena, &table, &err));
	return table;
}

static const struct diagnoses *parsed(struct scratch *s, const char *rows)
{
	char *text = arena_printf(&s->arena, "id,kind,status,pattern,cause,fix,source\n%s\n", rows);
	const struct diagnoses *table;
	struct error err = {0};

	assert_fine(diagnoses_parse("t", text, strlen(text), &s->arena, &table, &err));
	return table;
}

static void feed(struct diagnosing *job, int rank, const char *lines)
{
	diagnosing_feed(job, NULL, rank, lines, strlen(lines));
}

/* The header's value, from a line "# NAME: value"; "" when there is none. */
static const char *header(struct scratch *s, const char *text, const char *name)
{
	const char *key = arena_printf(&s->arena, "# %s: ", name);

	for (; text[0] == '#' && text[1] == ' '; text = strchr(text, '\n') + 1)
		if (strncmp(text, key, strlen(key)) == 0)
			return arena_strndup(&s->arena, text + strlen(key),
					     strcspn(text + strlen(key), "\n"));
	return "";
}

/* What a recorded output gives. Its header's lines are no output. */
static size_t diagnose(struct scratch *s, const struct diagnoses *table, const char *path,
		       struct diagnosis best[static DIAGNOSIS_BEST])
{
	struct diagnosing *job = diagnosing_new(table, &s->arena);
	const char *text = slurp(s, path), *status = header(s, text, "status"), *output = text;

	if (!starts_with(header(s, text, "source"), "http") &&
	    !starts_with(header(s, text, "source"), "a run o"))
		fail_msg("%s: no source in the first lines", path);
	while (output[0] == '#' && output[1] == ' ')
		output = strchr(output, '\n') + 1;
	feed(job, 0, output);
	if (*status)
		diagnosing_status(job, NULL, 1, (int)strtol(status, NULL, 10));
	return diagnosing_best(job, best);
}

/* The names of the folder's cases, without ".txt". */
static const char **cases_of(struct scratch *s, const char *folder, size_t *count)
{
	struct dirent **entries;
	int found = scandir(arena_printf(&s->arena, "%s/%s", source_root(s), folder), &entries,
			    NULL, alphasort);
	const char **names;

	assert_true(found > 0);
	names = ARENA_ARRAY(&s->arena, (size_t)found, const char *);
	*count = 0;
	for (int i = 0; i < found; i++) {
		if (ends_with(entries[i]->d_name, ".txt"))
			names[(*count)++] = arena_strndup(&s->arena, entries[i]->d_name,
							  strlen(entries[i]->d_name) - 4);
		free(entries[i]);
	}
	free(entries);
	return names;
}

/* The row of a case: "killed" has the cases killed and killed.mpirun. */
static const char *id_of(struct scratch *s, const char *name)
{
	return arena_strndup(&s->arena, name, strcspn(name, "."));
}

static bool is_row(const struct table *rows, const char *id)
{
	for (size_t i = 0; i < rows->row_count; i++)
		if (strcmp(table_cell(rows, i, "id"), id) == 0)
			return true;
	return false;
}

static void test_recorded_failures(void **state)
{
	struct scratch *s = *state;
	const struct diagnoses *table = table_of(s);
	struct diagnosis best[DIAGNOSIS_BEST];
	size_t count, wrong = 0;
	const char **names = cases_of(s, "tests/cases/job-failures", &count);

	for (size_t i = 0; i < count; i++) {
		const char *path = arena_printf(&s->arena, "%s/tests/cases/job-failures/%s.txt",
						source_root(s), names[i]);
		size_t found = diagnose(s, table, path, best);

		if (found && strcmp(best[0].id, id_of(s, names[i])) == 0)
			continue;
		print_error("%s: it is answered by %s\n", names[i], found ? best[0].id : "nothing");
		wrong++;
	}
	assert_int_equal(wrong, 0);
}

static void test_every_row_has_a_record(void **state)
{
	struct scratch *s = *state;
	const char *path = arena_printf(&s->arena, "%s/recipes/job-failures.csv", source_root(s));
	struct error err = {0};
	struct table rows;
	size_t count;
	const char **names = cases_of(s, "tests/cases/job-failures", &count);

	assert_fine(table_load(path, &s->arena, &rows, &err));
	for (size_t i = 0; i < count; i++)
		if (!is_row(&rows, id_of(s, names[i])))
			fail_msg("%s is no row", names[i]);
	for (size_t i = 0; i < rows.row_count; i++) {
		if (!file_exists(arena_printf(&s->arena, "%s/tests/cases/job-failures/%s.txt",
					      source_root(s), table_cell(&rows, i, "id"))))
			fail_msg("%s: no recorded output", table_cell(&rows, i, "id"));
		if (!starts_with(table_cell(&rows, i, "source"), "https://"))
			fail_msg("%s: its source is no page", table_cell(&rows, i, "id"));
		if (ends_with(table_cell(&rows, i, "cause"), ".") ||
		    ends_with(table_cell(&rows, i, "fix"), "."))
			fail_msg("%s: a full stop", table_cell(&rows, i, "id"));
	}
	assert_true(rows.row_count >= 60);
}

static void test_recorded_successes(void **state)
{
	struct scratch *s = *state;
	const struct diagnoses *table = table_of(s);
	struct diagnosis best[DIAGNOSIS_BEST];
	size_t count;
	const char **names = cases_of(s, "tests/cases/job-successes", &count);

	assert_true(count >= 8);
	for (size_t i = 0; i < count; i++)
		if (diagnose(s, table,
			     arena_printf(&s->arena, "%s/tests/cases/job-successes/%s.txt",
					  source_root(s), names[i]),
			     best))
			fail_msg("%s: it gives %s for \"%s\"", names[i], best[0].id, best[0].line);
}

#define ROWS                                                                          \
	"echo1,echo,,Connection reset,another rank ended,look there,u\n"              \
	"sign1,sign,139;134,Segmentation fault,a crash,look at the core,u\n"          \
	"warn1,warning,,no active ports,no link,look,u\n"                             \
	"hint1,hint,,the disk is slow,a slow disk,look,u\n"                           \
	"port,cause,,address already in use: port *,port $1 is taken,take $1 + 1,u\n" \
	"name,cause,,resolve * port * failed | *: unknown host,no $1,add it,u\n"      \
	"killed,sign,137,,the rank was killed,look at its memory,u"

static void test_order(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(parsed(s, ROWS), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];

	assert_int_equal(diagnosing_best(job, best), 0);
	feed(job, 0, "x: no active ports\n");
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "warn1");
	diagnosing_feed(job, "node01", 0, "  Connection reset by peer\n", 27);
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "echo1");
	assert_string_equal(best[0].line, "Connection reset by peer");
	assert_string_equal(best[0].host, "node01");
	diagnosing_status(job, "node02", 2, 137);
	diagnosing_status(job, "node02", 2, 1);
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "killed");
	assert_string_equal(best[0].line, "exit status 137: Killed");
	assert_int_equal(best[0].rank, 2);
	/* the first that said so counts, and a cause stands before what came earlier */
	feed(job, 3, "address already in use: port 2222.\naddress already in use: port 2223\n");
	diagnosing_status(job, "node02", 2, 139);
	assert_int_equal(diagnosing_best(job, best), 3);
	assert_string_equal(best[0].cause, "port 2222 is taken");
	assert_string_equal(best[0].fix, "take 2222 + 1");
	assert_int_equal(best[0].rank, 3);
	assert_string_equal(best[1].id, "killed");
	assert_string_equal(best[2].id, "sign1");
}

/* Colours between the words, and what a rank said long before its end. */
static void test_colours_and_age(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(parsed(s, ROWS), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];

	feed(job, 0, "\033[31maddress\033[0m already in \033[1;4muse: port 22\033[m22\033[K\n");
	feed(job, 0, "unknown host\n");
	feed(job, 0, "Segmentation fault\n");
	feed(job, 0, "node7: unknown host\n");
	assert_int_equal(diagnosing_best(job, best), 3);
	assert_string_equal(best[0].cause, "port 2222 is taken");
	diagnosing_end(job, 1, "");
	diagnosing_best(job, best);
	assert_false(best[0].is_old);
	diagnosing_end(job, 0, "on \033[1mnode7\033[0m: unknown host\nbye");
	assert_int_equal(diagnosing_best(job, best), 3);
	assert_string_equal(best[0].id, "name");
	assert_false(best[0].is_old);
	assert_string_equal(best[1].id, "port");
	assert_true(best[1].is_old && best[2].is_old);
}

/* What programs print and live on with stands behind what they do not, and before echoes. */
static void test_hints(void **state)
{
	static const char *const warnings[] = {
		"x.py:52: UserWarning: address already in use: port 1",
		"WARNING: Retrying (Retry(total=4)) after 'address already in use: port 1'",
		"address already in use: port 1 (Triggered internally at /c10/cuda/F.cpp:108.)",
	};
	struct scratch *s = *state;
	struct diagnosis best[DIAGNOSIS_BEST];

	for (size_t i = 0; i < ARRAY_LEN(warnings); i++) {
		struct diagnosing *job = diagnosing_new(parsed(s, ROWS), &s->arena);

		feed(job, 0, warnings[i]);
		feed(job, 0, "Connection reset by peer\nmaybe the disk is slow\n");
		assert_int_equal(diagnosing_best(job, best), 2);
		assert_string_equal(best[0].id, "port");
		assert_string_equal(best[1].id, "hint1");
		assert_true(best[0].is_weak && best[1].is_weak);
		assert_true(diagnoses_is_echo(
			parsed(s, ROWS), "maybe the disk is slow\nConnection reset", &s->arena));
		feed(job, 0, "Segmentation fault\n");
		assert_int_equal(diagnosing_best(job, best), 3);
		assert_string_equal(best[0].id, "sign1");
		assert_false(best[0].is_weak);
		/* the same row by a line that is no warning */
		feed(job, 0, "OSError: address already in use: port 2\n");
		feed(job, 0, warnings[i]);
		assert_int_equal(diagnosing_best(job, best), 3);
		assert_string_equal(best[0].cause, "port 2 is taken");
		assert_false(best[0].is_weak);
		assert_string_equal(best[1].id, "sign1");
	}
	assert_true(diagnoses_knows(parsed(s, ROWS), "E: Connection reset", &s->arena));
	assert_false(diagnoses_knows(parsed(s, ROWS), "KeyError: 'lr'", &s->arena));
}

/* A rank that says why it ends with 127 says it, whichever rank said it first, and whichever status came first. */
static void test_status_of_a_cause(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(table_of(s), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];

	feed(job, 1, "ringup: cannot enter the folder /nope: No such file or directory\n");
	feed(job, 200, "ringup: cannot enter the folder /nope: No such file or directory\n");
	diagnosing_status(job, "node02", 200, 127);
	diagnosing_status(job, "node01", 1, 127);
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "workdir-missing");
	diagnosing_status(job, "node03", 3, 127);
	assert_int_equal(diagnosing_best(job, best), 2);
	assert_string_equal(best[1].id, "command-missing");
	assert_int_equal(best[1].rank, 3);
	feed(job, 3, "ringup: cannot enter the folder /nope: No such file or directory\n");
	assert_int_equal(diagnosing_best(job, best), 1);
}

/* The line that says what the status has said before is no second answer, and does not take the first one away. */
static void test_line_after_its_status(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(table_of(s), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];

	diagnosing_status(job, "node01", 3, 127);
	feed(job, 3, "sh: 1: torchrum: not found\n");
	feed(job, 5, "bash: line 1: torchrum: command not found\n");
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "command-missing");
	assert_false(best[0].is_weak);
}

/* The recorded output of a case, without its header. */
static const char *record(struct scratch *s, const char *name)
{
	const char *text = slurp(s, arena_printf(&s->arena, "%s/tests/cases/job-failures/%s.txt",
						 source_root(s), name));

	while (text[0] == '#' && text[1] == ' ')
		text = strchr(text, '\n') + 1;
	return text;
}

/* What real ranks print in the order in which it comes, the consequences first. */
static void test_cause_before_consequence(void **state)
{
	static const struct {
		const char *consequence, *cause;
	} rows[] = {
		{"nccl-system-error", "nccl-connect"},
		{"nccl-system-error", "shm-full"},
		{"nccl-watchdog", "driver-insufficient"},
		{"torchrun-child", "driver-insufficient"},
		{"gloo-peer-lost", "killed"},
		{"killed", "oom-host"},
		{"killed", "oom-cgroup"},
		{"mpi-nonzero", "module-missing"},
		{"orte-daemon-lost", "oom-host"},
		{"illegal-access", "xid-ecc"},
		{"openib-device", "mpi-abort"},
		{"tf-worker-lost", "host-memory"},
		{"horovod-stall", "gpu-memory"},
		{"vader-cma", "port-in-use"},
	};
	struct scratch *s = *state;
	const struct diagnoses *table = table_of(s);
	struct diagnosis best[DIAGNOSIS_BEST];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct diagnosing *job = diagnosing_new(table, &s->arena);

		feed(job, 0, record(s, rows[i].consequence));
		assert_true(diagnosing_best(job, best) > 0);
		assert_string_equal(best[0].id, rows[i].consequence);
		feed(job, 7, record(s, rows[i].cause));
		assert_true(diagnosing_best(job, best) > 0);
		if (strcmp(best[0].id, rows[i].cause) != 0)
			fail_msg("%s stands before %s", best[0].id, rows[i].cause);
		assert_int_equal(best[0].rank, 7);
	}
}

/* A rank's end is known by its status alone, and the host's kernel says who ended it. */
static void test_killed(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(table_of(s), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];
	const char *kernel = record(s, "oom-host");

	feed(job, 0, record(s, "gloo-peer-lost"));
	diagnosing_status(job, "node02", 1, 137);
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "killed");
	assert_string_equal(best[0].host, "node02");
	assert_int_equal(best[0].rank, 1);
	diagnosing_feed(job, "node02", DIAGNOSIS_NO_RANK, kernel, strlen(kernel));
	assert_int_equal(diagnosing_best(job, best), 2);
	assert_string_equal(best[0].id, "oom-host");
	assert_string_equal(best[0].cause,
			    "the kernel killed process 1440763 (perl): the host ran out of memory");
	assert_int_equal(best[0].rank, DIAGNOSIS_NO_RANK);
	assert_string_equal(best[1].id, "killed");
}

/* MPICH's launcher kills every rank when one asks for the end: who asked is known by its own line, and comes first. */
static void test_abort(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(table_of(s), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST], said;

	diagnosing_status(job, "node01", 0, 137);
	assert_false(diagnosing_abort(job, &said));
	feed(job, DIAGNOSIS_NO_RANK, record(s, "mpich-abort"));
	assert_false(diagnosing_abort(job, &said));
	job = diagnosing_new(table_of(s), &s->arena);
	diagnosing_status(job, "node01", 0, 137);
	feed(job, 3, record(s, "mpich-abort"));
	assert_true(diagnosing_abort(job, &said));
	assert_int_equal(said.rank, 3);
	assert_string_equal(said.id, "mpich-abort");
	/* that memory ran out is no likely reason any more */
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "mpich-abort");
	assert_string_equal(best[0].cause, "the program called MPI_Abort with status 7");
	assert_false(diagnoses_is_echo(table_of(s), record(s, "mpich-abort"), &s->arena));
}

/* A traceback shows the line of source first, then the exception. */
static void test_traceback(void **state)
{
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(parsed(s, ROWS), &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];

	feed(job, 0, "[1,0]<stderr>:    raise E(\"address already in use: port %d\" % p)\n");
	assert_int_equal(diagnosing_best(job, best), 0);
	feed(job, 0, "[1,0]<stderr>:E: address already in use: port 80\n");
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].cause, "port 80 is taken");
}

static void test_words(void **state)
{
	static const struct {
		const char *line, *cause;
	} rows[] = {
		{"resolve node7 port 22 failed", "no node7"},
		{"could not resolve 'node7' port 22: failed", "no node7"},
		{"resolve  port 22 failed", "no ?"},
		{"at 12:00 ssh: node8: unknown host", "no node8"},
		{": unknown host", "no ?"},
		{"resolve $(reboot) port 1 failed", "no reboot"},
		{"resolve `x`;y port 1 failed", "no x"},
	};
	struct scratch *s = *state;
	const struct diagnoses *table = parsed(s, ROWS);
	struct diagnosis best[DIAGNOSIS_BEST];

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct diagnosing *job = diagnosing_new(table, &s->arena);

		feed(job, 0, rows[i].line);
		assert_int_equal(diagnosing_best(job, best), 1);
		assert_string_equal(best[0].cause, rows[i].cause);
	}
}

/* A line counts for its first row only. Lines end at '\r', too, and the last one needs no end. */
static void test_lines(void **state)
{
	struct scratch *s = *state;
	const struct diagnoses *table = parsed(s, ROWS);
	struct diagnosing *job = diagnosing_new(table, &s->arena);
	struct diagnosis best[DIAGNOSIS_BEST];

	feed(job, 0, "Segmentation fault, Connection reset\n");
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "echo1");
	feed(job, 0, "10%\r20%\rSegmentation fault (core dumped)");
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].line, "Segmentation fault (core dumped)");
	/* no pattern goes over a line's end */
	job = diagnosing_new(table, &s->arena);
	feed(job, 0, "resolve node7\nport 22 failed\nSegmentation\nfault\n: unknown\nhost");
	assert_int_equal(diagnosing_best(job, best), 0);
}

static void test_every_place(void **state)
{
	struct scratch *s = *state;
	const struct diagnoses *table = parsed(s, ROWS);
	struct diagnosis best[DIAGNOSIS_BEST];

	for (size_t before = 0; before < 40; before++) {
		struct diagnosing *job = diagnosing_new(table, &s->arena);
		char *line = arena_printf(&s->arena, "%*sSegmentation fault", (int)before, "");

		feed(job, 0, line);
		assert_int_equal(diagnosing_best(job, best), 1);
		assert_string_equal(best[0].line, "Segmentation fault");
	}
}

/* Any bytes, and lines without end: quickly, and nothing that a terminal obeys comes back. */
static void test_hostile(void **state)
{
	enum { BYTES = 4 << 20 };
	struct scratch *s = *state;
	struct diagnosing *job = diagnosing_new(parsed(s, ROWS), &s->arena);
	const char evil[] = "\033[31mSegmentation fault\033[0m\x01\033]0;x\a\0y\xff";
	const char part[] = "resolve resolve address already in use: resolve ";
	char *text = arena_alloc(&s->arena, BYTES);
	struct diagnosis best[DIAGNOSIS_BEST];

	for (size_t i = 0; i < BYTES; i++)
		text[i] = part[i % (sizeof(part) - 1)];
	memcpy(text + BYTES - 2000, evil, sizeof(evil) - 1);
	diagnosing_feed(job, "a\033b", 0, text, BYTES);
	assert_int_equal(diagnosing_best(job, best), 1);
	assert_string_equal(best[0].id, "sign1");
	assert_string_equal(best[0].host, "a?b");
	assert_in_range(strlen(best[0].line), 10, 300);
	assert_lacks(best[0].line, "\033");
	assert_lacks(best[0].line, "\x01");
	assert_has(best[0].line, "Segmentation fault??");
}

static void test_wrong_tables(void **state)
{
	static const struct {
		const char *row, *error;
	} rows[] = {
		{"a,cause,,twelve bytes,c,f,u\na,cause,,other twelve,c,f,u", "t:3: a second row"},
		{",cause,,twelve bytes,c,f,u", "t:2: no id"},
		{"a,reason,,twelve bytes,c,f,u", "'kind' is none of"},
		{"a,cause,,seven b*seven b,c,f,u", "without eight bytes in a row"},
		{"a,cause,,eight by | seven b,c,f,u", "without eight bytes in a row"},
		{"a,cause,,eight by*1*2*3*4*5*6*7*8*9*,c,f,u", "more than nine stars"},
		{"a,cause,0,,c,f,u", "'status' is"},
		{"a,cause,1;256,,c,f,u", "'status' is"},
		{"a,cause,x,,c,f,u", "'status' is"},
		{"a,cause,1;2;3;4;5;6;7;8;9,,c,f,u", "'status' is"},
		{"a,cause,,,c,f,u", "neither a pattern nor a status"},
		{"a,cause,,twelve bytes,,f,u", "a cell is empty"},
		{"a,cause,,twelve bytes,c,f,", "a cell is empty"},
		{"a,cause,,twelve bytes *,c $2,f,u", "the number of no star"},
		{"a,cause,,twelve bytes | twelve words *,c $1,f,u", "the number of no star"},
		{"a,cause,,twelve bytes *,c $,f,u", "without the number"},
		{"a,cause,1,twelve bytes *,c $1,f,u", "without the number"},
	};
	struct scratch *s = *state;
	const struct diagnoses *table;
	struct error err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char *text = arena_printf(&s->arena, "id,kind,status,pattern,cause,fix,source\n%s",
					  rows[i].row);

		assert_fails(diagnoses_parse("t", text, strlen(text), &s->arena, &table, &err),
			     ERROR_USAGE, rows[i].error);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_recorded_failures),
		SCRATCH_TEST(test_every_row_has_a_record),
		SCRATCH_TEST(test_recorded_successes),
		SCRATCH_TEST(test_order),
		SCRATCH_TEST(test_colours_and_age),
		SCRATCH_TEST(test_hints),
		SCRATCH_TEST(test_status_of_a_cause),
		SCRATCH_TEST(test_line_after_its_status),
		SCRATCH_TEST(test_cause_before_consequence),
		SCRATCH_TEST(test_killed),
		SCRATCH_TEST(test_abort),
		SCRATCH_TEST(test_traceback),
		SCRATCH_TEST(test_words),
		SCRATCH_TEST(test_lines),
		SCRATCH_TEST(test_every_place),
		SCRATCH_TEST(test_hostile),
		SCRATCH_TEST(test_wrong_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
