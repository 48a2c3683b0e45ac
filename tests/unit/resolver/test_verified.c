/* SPDX-License-Identifier: MIT */
/*
 * Every published stack of recipes/catalog/verified.csv, asked of the resolver: docs/catalog.md has
 * the columns. A row that has a reason in `open` must still be answered wrongly: who mends the
 * cause empties the cell.
 */
#include "tests/unit/support.h"

#include "core/str.h"
#include "core/words.h"
#include "resolver/resolve.h"

#include <stdio.h>

#define RUNS_MIN 150
#define FAILS_MIN 40

/* One row and what resolve made of it. */
struct published {
	struct arena arena;
	const char *id, *kind, *cause, *open;
	struct plan plan;
	struct unsatisfied why;
	struct error err;
	int rc;
};

static struct catalog catalog;
static const struct table *verified;
static size_t verified_runs, verified_fails, verified_open;

static const char *verified_cell(size_t row, const char *column)
{
	return table_cell(verified, row, column);
}

/* The cell "A & B" as words: a GPU's name holds blanks, so ' ' cannot part them. */
static const char *const *verified_requests(struct arena *arena, const char *text)
{
	struct words requests = WORDS_INIT(arena);
	const char *end;

	for (; (end = strstr(text, " & ")); text = end + strlen(" & "))
		words_add(&requests, arena_strndup(arena, text, (size_t)(end - text)));
	words_add(&requests, text);
	return requests.list;
}

static void verified_ask(struct published *p, size_t row)
{
	const char *accelerator = verified_cell(row, "accelerator");
	struct resolve_input input = {
		.requests = verified_requests(&p->arena, verified_cell(row, "request")),
		.accelerator = *accelerator ? accelerator : "auto",
	};

	p->id = verified_cell(row, "id");
	p->kind = verified_cell(row, "kind");
	p->cause = verified_cell(row, "cause");
	p->open = verified_cell(row, "open");
	p->rc = resolve(&catalog, &input, &p->arena, &p->plan, &p->why, &p->err);
}

/* Whether a note of the stack that came names the row's cause. */
static bool verified_warns(const struct published *p)
{
	for (size_t i = 0; i < p->plan.note_count; i++)
		if (strcasestr(p->plan.notes[i], p->cause))
			return true;
	return false;
}

static bool verified_is_right(const struct published *p)
{
	if (strcmp(p->kind, "runs") == 0)
		return p->rc == 0;
	return p->rc == 0 ? verified_warns(p) : p->err.kind == ERROR_UNSATISFIED;
}

/* Whether sources.csv has one of the ids, ';' between, and calls it documented. */
static bool verified_is_documented(struct arena *arena, const char *ids)
{
	const struct table *sources = catalog_table(&catalog, "sources");

	for (size_t length; *ids; ids += length + (ids[length] == ';')) {
		const char *id = arena_strndup(arena, ids, length = strcspn(ids, ";"));

		for (size_t row = 0; row < sources->row_count; row++)
			if (strcmp(table_cell(sources, row, "id"), id) == 0 &&
			    strcmp(table_cell(sources, row, "certainty"), "documented") == 0)
				return true;
	}
	return false;
}

/* Nothing refuses a published stack without a source; the catalog may lack a version. */
static bool verified_may_refuse(struct published *p)
{
	for (size_t i = 0; i < p->why.count; i++)
		if (verified_is_documented(&p->arena, p->why.conflicts[i].source) ||
		    strstr(p->why.conflicts[i].because, "the catalog knows no such"))
			return true;
	return false;
}

/* What is wrong with the answer, NULL when nothing is. */
static const char *verified_wrong(struct published *p)
{
	bool is_right = verified_is_right(p);

	if (*p->open && is_right)
		return "it is answered rightly now: empty its cell 'open'";
	if (*p->open && p->rc < 0 && !verified_may_refuse(p))
		return arena_printf(&p->arena, "refused without a source: %s", p->err.text);
	if (*p->open || is_right)
		return NULL;
	if (p->rc == 0)
		return arena_printf(&p->arena, "it fails, and is given without a warning of '%s'",
				    p->cause);
	return arena_printf(&p->arena, "it runs, and is refused: %s", p->err.text);
}

static void test_published(void **state)
{
	struct published *p = xmalloc(sizeof(*p));
	const char *wrong;
	char text[2048] = "";

	*p = (struct published){.arena = ARENA_INIT};
	verified_ask(p, *(const size_t *)*state);
	wrong = verified_wrong(p);
	if (wrong)
		snprintf(text, sizeof(text), "%s: %s", p->id, wrong);
	arena_release(&p->arena);
	free(p);
	if (*text)
		fail_msg("%s", text);
}

/* Every cell that a row needs, and as many rows as make them worth something. */
static void test_table(void **state)
{
	(void)state;
	for (size_t row = 0; row < verified->row_count; row++) {
		const char *kind = verified_cell(row, "kind");

		verified_runs += strcmp(kind, "runs") == 0;
		verified_fails += strcmp(kind, "fails") == 0;
		verified_open += *verified_cell(row, "open") != '\0';
		if (!*verified_cell(row, "where") || !*verified_cell(row, "request"))
			fail_msg("%s: no address or no request", verified_cell(row, "id"));
		if ((strcmp(kind, "fails") == 0) != (*verified_cell(row, "cause") != '\0'))
			fail_msg("%s: 'fails' has a cause, 'runs' none", verified_cell(row, "id"));
	}
	assert_int_equal(verified_runs + verified_fails, verified->row_count);
	assert_in_range(verified_runs, RUNS_MIN, SIZE_MAX);
	assert_in_range(verified_fails, FAILS_MIN, SIZE_MAX);
	printf("# %zu published stacks run, %zu fail; %zu are open\n", verified_runs,
	       verified_fails, verified_open);
}

static int run_published(struct arena *arena)
{
	size_t count = verified->row_count + 1;
	struct CMUnitTest *tests = ARENA_ARRAY(arena, count, struct CMUnitTest);
	size_t *rows = ARENA_ARRAY(arena, count, size_t);

	for (size_t row = 0; row < verified->row_count; row++) {
		rows[row] = row;
		tests[row] = (struct CMUnitTest){.name = verified_cell(row, "id"),
						 .test_func = test_published,
						 .initial_state = &rows[row]};
	}
	tests[count - 1] = (struct CMUnitTest){.name = "the table", .test_func = test_table};
	/* what cmocka_run_group_tests_name() calls with the size of an array that is fixed */
	return _cmocka_run_group_tests("verified", tests, count, NULL, NULL);
}

int main(void)
{
	struct scratch s = {ARENA_INIT, NULL};
	struct error err = {0};
	int failed;

	if (catalog_load(arena_printf(&s.arena, "%s/recipes/catalog", source_root(&s)), &s.arena,
			 &catalog, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	verified = catalog_table(&catalog, "verified");
	if (!verified) {
		fprintf(stderr, "recipes/catalog has no verified.csv\n");
		return 1;
	}
	failed = run_published(&s.arena);
	arena_release(&s.arena);
	return failed;
}
