/* SPDX-License-Identifier: MIT */
/* What upstream says, against the rows: new rows, filled cells, contradictions, and the files after it. */
#include "tests/unit/support.h"

#include "upstream/rows.h"
#include "upstream/write.h"

#define HEADER "version,os,python,brings,sm,pip,run_packages,build_packages,note,certainty,source\n"
#define ROWS                                                                           \
	"2.13.0,,>=3.10;<3.15,nccl==2.29.7,7.5;8.0,torch==2.13.0,,,,documented,hand\n" \
	"2.14.0,,>=3.10;<3.15,,7.5;9.0,torch==2.14.0,,,,documented,hand\n"

static struct rows *make_rows(struct scratch *s, const char *torch_rows)
{
	struct rows *rows = ARENA_NEW(&s->arena, struct rows);
	struct catalog *catalog = ARENA_NEW(&s->arena, struct catalog);
	struct error err = {0};

	put(s, "catalog/os.csv",
	    "version,os,run_packages,build_packages,note,certainty,source\ndebian12,,,,,documented,hand\n");
	put(s, "catalog/sources.csv", "id,title,where,certainty\nhand,by hand,here,documented\n");
	put(s, "catalog/torch.csv",
	    arena_printf(&s->arena, "# a comment\n" HEADER "%s# the end\n", torch_rows));
	assert_fine(catalog_load(in(s, "catalog"), &s->arena, catalog, &err));
	*rows = (struct rows){.catalog = catalog, .arena = &s->arena, .today = "2026-11-23"};
	return rows;
}

static void offer_torch(struct rows *rows, const char *version, const char *python,
			const char *brings)
{
	static const char *const copied[] = {"sm", "brings", NULL};
	struct fact_list facts = FACT_LIST_INIT(rows->arena), keys = FACT_LIST_INIT(rows->arena);

	fact_addf(&keys, FACT_NEW, version, "pip", "torch==%s", version);
	fact_add(&facts, FACT_COMPARED, "python", python);
	fact_add(&facts, FACT_COMPARED, "brings", brings);
	rows_offer(rows, &(struct offer){.table = "torch",
					 .version = version,
					 .keys = keys.list,
					 .facts = facts.list,
					 .copied = copied,
					 .alike = &(struct fact){.column = NULL},
					 .note = "by the index",
					 .source = "hand",
					 .url = "https://a.b/"});
}

static const char *edited(struct scratch *s, const struct rows *rows)
{
	struct error err = {0};
	const char *text;

	assert_fine(rows_edit(rows, "torch", in(s, "catalog/torch.csv"),
			      slurp(s, in(s, "catalog/torch.csv")), &s->arena, &text, &err));
	return text;
}

/* A new row takes what upstream does not say from the newest row before it, and goes where it belongs. */
static void test_new_row(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);

	offer_torch(rows, "2.13.1", ">=3.10;<3.15", "nccl==2.29.9");
	offer_torch(rows, "2.13.1", ">=3.10;<3.15", "nccl==2.29.9");
	assert_int_equal(rows_count(rows, ROW_NEW), 1);
	assert_string_equal(
		edited(s, rows),
		"# a comment\n" HEADER
		"2.13.0,,>=3.10;<3.15,nccl==2.29.7,7.5;8.0,torch==2.13.0,,,,documented,hand\n"
		"2.13.1,,>=3.10;<3.15,nccl==2.29.9,7.5;8.0,torch==2.13.1,,,by the index; sm as of 2.13.0,inferred,hand\n"
		"2.14.0,,>=3.10;<3.15,,7.5;9.0,torch==2.14.0,,,,documented,hand\n# the end\n");
}

/* Tables that begin with the newest version get their rows at the right end, too. */
static void test_newest_first(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, "2.14.0,,,,9.0,torch==2.14.0,,,,documented,hand\n"
					 "2.13.0,,,,8.0,torch==2.13.0,,,,documented,hand\n");
	const char *text, *newer, *older;

	offer_torch(rows, "2.15.0", "", "");
	offer_torch(rows, "2.12.0", "", "");
	text = edited(s, rows);
	newer = strstr(text, "\n2.15.0,,,,9.0,");
	older = strstr(text, "\n2.12.0,,,,");
	assert_non_null(newer);
	assert_non_null(older);
	assert_true(newer < strstr(text, "\n2.14.0,"));
	assert_true(older > strstr(text, "\n2.13.0,"));
}

static void test_filled_cell(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);

	offer_torch(rows, "2.14.0", ">=3.10;<3.15", "nccl==2.30.7");
	assert_int_equal(rows_count(rows, ROW_FILLED), 1);
	assert_has(
		edited(s, rows),
		"\n2.14.0,,>=3.10;<3.15,nccl==2.30.7,7.5;9.0,torch==2.14.0,,,,documented,hand\n");
}

/* Cells that say the same in other words agree; a hand-written fact is never overwritten. */
static void test_contradictions(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);

	offer_torch(rows, "2.13.0", "==3.10.*|>=3.11;<3.15", "cudnn==9.1;nccl==2.29.7");
	assert_int_equal(rows->count, 0);
	offer_torch(rows, "2.13.0", ">=3.11;<3.15", "nccl==2.29.8");
	assert_int_equal(rows_count(rows, ROW_DIFFERS), 2);
	assert_has(rows->changes[0].what,
		   "python: the row says >=3.10;<3.15; upstream says >=3.11;<3.15");
	assert_string_equal(edited(s, rows), "");
}

/* Somebody has looked at it: it is not listed again until upstream says something else. */
static void test_reviewed(void **state)
{
	struct scratch *s = *state;
	struct rows *rows;

	put(s, "catalog/reviewed.csv",
	    "id,component,versions,column,upstream,note,certainty,source\n"
	    "a,torch,2.13.0,python,>=3.11;<3.15,,documented,hand\n");
	rows = make_rows(s, ROWS);
	offer_torch(rows, "2.13.0", ">=3.11;<3.15", "");
	assert_int_equal(rows->count, 0);
	offer_torch(rows, "2.13.0", ">=3.12;<3.15", "");
	assert_int_equal(rows_count(rows, ROW_DIFFERS), 1);
}

/* What could not stand in a table, or would command a terminal, is left out. */
static void test_odd_words(void **state)
{
	static const char *const odd[] = {"a,b", "a\"b", "\033[2J", "a\nb",
					  "#1",	 "",	 " 1",	    "\xc2\x9b"};
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);

	for (size_t i = 0; i < ARRAY_LEN(odd); i++)
		offer_torch(rows, odd[i], "", "");
	assert_int_equal(rows->count, 0);
	assert_int_equal(rows->odd, ARRAY_LEN(odd));
}

/* What the check of the whole catalog finds is not written, not even in part. */
static void test_nothing_bad_is_written(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);
	const char *folders[] = {in(s, "catalog"), NULL};
	const char *before = slurp(s, in(s, "catalog/torch.csv"));
	struct error err = {0};

	offer_torch(rows, "2.15.0", ">=3.11;<3.16", "");
	offer_torch(rows, "2.16.0", "no requirement", "");
	rows_stamp(rows, "torch", "hand");
	assert_fails(rows_write(rows, folders, &err), ERROR_FAILED, "nothing is written");
	assert_string_equal(slurp(s, in(s, "catalog/torch.csv")), before);
	assert_false(file_exists(in(s, "catalog/updated.csv")));
}

/* A file that somebody else changed after it was loaded is left as it is, and so are the others. */
static void test_changed_meanwhile(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);
	const char *folders[] = {in(s, "catalog"), NULL};
	struct error err = {0};

	offer_torch(rows, "2.14.0", "", "nccl==2.30.7");
	put(s, "catalog/torch.csv", HEADER ROWS);
	assert_fails(rows_write(rows, folders, &err), ERROR_FAILED, "has changed meanwhile");
	assert_string_equal(slurp(s, in(s, "catalog/torch.csv")), HEADER ROWS);
}

/* Something else in the place of a table: nothing is written, not even the tables before it. */
static void test_unreadable_table(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);
	const char *folders[] = {in(s, "catalog"), NULL};
	const char *before = slurp(s, in(s, "catalog/torch.csv"));
	struct error err = {0};

	offer_torch(rows, "2.14.0", "", "nccl==2.30.7");
	rows_stamp(rows, "torch", "hand");
	assert_int_equal(mkdir(in(s, "catalog/updated.csv"), 0755), 0);
	assert_int_equal(rows_write(rows, folders, &err), -1);
	assert_string_equal(slurp(s, in(s, "catalog/torch.csv")), before);
}

/* A user's own folder is made, and holds only what is new. */
static void test_own_folder(void **state)
{
	struct scratch *s = *state;
	struct rows *rows = make_rows(s, ROWS);
	const char *folders[] = {in(s, "own/catalog"), in(s, "catalog"), NULL};
	struct error err = {0};

	offer_torch(rows, "2.14.0", "", "nccl==2.30.7");
	offer_torch(rows, "2.15.0", ">=3.11;<3.16", "");
	rows_source(rows, "new", "a new one", "https://a.b/");
	rows_stamp(rows, "torch", "hand");
	assert_fine(rows_write(rows, folders, &err));
	assert_string_equal(
		slurp(s, in(s, "own/catalog/torch.csv")), HEADER
		"2.14.0,,>=3.10;<3.15,nccl==2.30.7,7.5;9.0,torch==2.14.0,,,,documented,hand\n"
		"2.15.0,,>=3.11;<3.16,,7.5;9.0,torch==2.15.0,,,by the index; sm as of 2.14.0,inferred,hand\n");
	assert_string_equal(slurp(s, in(s, "own/catalog/updated.csv")),
			    "name,date,certainty,source\ntorch,2026-11-23,documented,hand\n");
	assert_has(slurp(s, in(s, "own/catalog/sources.csv")), "\nnew,a new one,https://a.b/,");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_new_row),
		SCRATCH_TEST(test_newest_first),
		SCRATCH_TEST(test_filled_cell),
		SCRATCH_TEST(test_contradictions),
		SCRATCH_TEST(test_reviewed),
		SCRATCH_TEST(test_odd_words),
		SCRATCH_TEST(test_nothing_bad_is_written),
		SCRATCH_TEST(test_own_folder),
		SCRATCH_TEST(test_changed_meanwhile),
		SCRATCH_TEST(test_unreadable_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
