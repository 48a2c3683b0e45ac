/* SPDX-License-Identifier: MIT */
/* The version facts: the real catalog, and broken ones. */
#include "tests/unit/support.h"

#include "core/digest.h"
#include "resolver/catalog.h"

#define HEADER "version,os,run_packages,build_packages,note,certainty,source\n"

static void test_real_catalog(void **state)
{
	struct scratch *s = *state;
	static const char *const needed[] = {"os", "glibc", "gcc", "python", "openmpi"};
	const char *folder = arena_printf(&s->arena, "%s/recipes/catalog", source_root(s));
	struct catalog catalog;
	struct error err = {0};

	assert_fine(catalog_load(folder, &s->arena, &catalog, &err));
	assert_true(digest_is_valid(catalog.revision));
	for (size_t i = 0; i < ARRAY_LEN(needed); i++) {
		const struct table *table = catalog_table(&catalog, needed[i]);

		assert_non_null(table);
		assert_true(table->row_count > 0);
		for (size_t row = 0; row < table->row_count; row++) {
			assert_true(*table_cell(table, row, "version"));
			assert_true(*table_cell(table, row, "source"));
		}
	}
	assert_non_null(catalog_table(&catalog, "sources"));
	assert_null(catalog_table(&catalog, "none"));
}

static void load(struct scratch *s, struct catalog *catalog)
{
	struct error err = {0};

	assert_fine(catalog_load(in(s, "catalog"), &s->arena, catalog, &err));
}

static void test_names_are_sorted(void **state)
{
	struct scratch *s = *state;
	struct catalog catalog;

	put(s, "catalog/os.csv", HEADER "debian12,,,,n,documented,s\n");
	put(s, "catalog/cuda.csv", HEADER);
	put(s, "catalog/sources.csv", "id\n");
	put(s, "catalog/README.md", "no table");
	load(s, &catalog);
	assert_int_equal(catalog.count, 3);
	assert_string_equal(catalog.names[0], "cuda");
	assert_string_equal(catalog.names[1], "os");
	assert_string_equal(catalog.names[2], "sources");
	assert_null(catalog.names[3]);
	assert_int_equal(catalog_table(&catalog, "cuda")->row_count, 0);
}

/* What a lock names: every byte of every file counts, also of sources.csv. */
static void test_revision(void **state)
{
	struct scratch *s = *state;
	struct catalog first, again;

	put(s, "catalog/os.csv", HEADER "debian12,,,,n,documented,s\n");
	put(s, "catalog/sources.csv", "id\ns\n");
	load(s, &first);
	load(s, &again);
	assert_string_equal(first.revision, again.revision);
	put(s, "catalog/sources.csv", "id\nt\n");
	load(s, &again);
	assert_string_not_equal(first.revision, again.revision);
	put(s, "catalog/sources.csv", "id\ns\n");
	put(s, "catalog/os.csv", HEADER "debian12,,,,N,documented,s\n");
	load(s, &again);
	assert_string_not_equal(first.revision, again.revision);
	put(s, "catalog/os.csv", HEADER "debian12,,,,n,documented,s\n");
	assert_int_equal(rename(in(s, "catalog/os.csv"), in(s, "catalog/so.csv")), 0);
	load(s, &again);
	assert_string_not_equal(first.revision, again.revision);
}

/* An image was pushed twice on one day: a user's row takes the place of one of them alone. */
static void test_own_row_of_two_pushes(void **state)
{
	static const char header[] =
		"version,os,from,cuda_least,branches,brands,run_packages,build_packages,note,certainty,source\n";
	struct scratch *s = *state;
	struct catalog catalog;
	struct error err = {0};
	const struct table *table;

	put(s, "catalog/os.csv", HEADER "debian12,,,,n,documented,s\n");
	put(s, "catalog/require.csv",
	    arena_printf(&s->arena,
			 "%s11.6.0,,2022-01-20,11.6,418;450,tesla,,,first,documented,s\n"
			 "11.6.0,,2022-01-20,11.6,418;440;450,tesla,,,second,documented,s\n",
			 header));
	put(s, "own/require.csv",
	    arena_printf(&s->arena,
			 "%s11.6.0,,2022-01-20,11.6,418;440;450,tesla,,,mine,documented,s\n",
			 header));
	assert_fine(catalog_load_path(WORDS(in(s, "own"), in(s, "catalog")), &s->arena, &catalog,
				      &err));
	table = catalog_table(&catalog, "require");
	assert_int_equal(table->row_count, 2);
	assert_string_equal(table_cell(table, 0, "note"), "first");
	assert_string_equal(table_cell(table, 1, "note"), "mine");
}

static void test_broken(void **state)
{
	struct scratch *s = *state;
	static const struct {
		const char *text, *where, *says;
	} cases[] = {
		{HEADER "1,,,,n,documented,s\n1,,,\n", "cuda.csv:3:", "4 cells"},
		{HEADER "1,,a,b,a note, with a comma,documented,s\n", "cuda.csv:2:", "8 cells"},
		{"version,os\n", "cuda.csv:1:", "'run_packages' is missing"},
		{"# first\nversion,os\n", "cuda.csv:2:", "'run_packages' is missing"},
		{"version,os,run_packages,build_packages,note,certainty\n",
		 "cuda.csv:1:", "'source' is missing"},
		{"version,version\n", "cuda.csv:1:", "two columns"},
		{"", "cuda.csv", "no header"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct catalog catalog;
		struct error err = {0};

		put(s, "catalog/cuda.csv", cases[i].text);
		assert_fails(catalog_load(in(s, "catalog"), &s->arena, &catalog, &err), ERROR_USAGE,
			     cases[i].where);
		assert_has(err.text, cases[i].says);
	}
}

static void test_too_many_components(void **state)
{
	struct scratch *s = *state;
	struct catalog catalog;
	struct error err = {0};

	for (int i = 0; i < CATALOG_COMPONENTS_MAX; i++)
		put(s, arena_printf(&s->arena, "catalog/c%02d.csv", i), HEADER);
	load(s, &catalog);
	assert_int_equal(catalog.count, CATALOG_COMPONENTS_MAX);
	put(s, "catalog/one-more.csv", HEADER);
	assert_fails(catalog_load(in(s, "catalog"), &s->arena, &catalog, &err), ERROR_USAGE,
		     "more than 64");
}

static void test_missing_folder(void **state)
{
	struct scratch *s = *state;
	struct catalog catalog;
	struct error err = {0};

	assert_fails(catalog_load(in(s, "none"), &s->arena, &catalog, &err), ERROR_FAILED,
		     in(s, "none"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCRATCH_TEST(test_real_catalog),   SCRATCH_TEST(test_names_are_sorted),
		SCRATCH_TEST(test_revision),	   SCRATCH_TEST(test_own_row_of_two_pushes),
		SCRATCH_TEST(test_broken),	   SCRATCH_TEST(test_too_many_components),
		SCRATCH_TEST(test_missing_folder),
	};

	return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
