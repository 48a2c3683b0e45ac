/* SPDX-License-Identifier: MIT */
/*
 * A catalog's table and a user's rows over it: "NAME", the table's lines, "---", the user's lines.
 * They are merged, made into a model, checked row by row as `matrix --check` does, and resolved.
 */
#include "tests/fuzz/fuzz.h"

#include "core/file.h"
#include "core/words.h"
#include "resolver/matrix/matrix.h"
#include "resolver/model.h"
#include "resolver/resolve.h"
#include "resolver/matrix/matrix_check.h"

#include <sys/stat.h>

#define COLUMNS ",run_packages,build_packages,note,certainty,source\n"

/* What every stack needs; the table that is tried takes the place of its file here. */
static const char *const files[][2] = {
	{"os", "version,os,rank,base,cuda" COLUMNS "debian12,,1,debian12,,,,,documented,s\n"
	       "ubuntu20.04,,2,,>=11.0;<12.10,,,,documented,s\n"},
	{"glibc", "version,os" COLUMNS "2.36,debian12,,,,documented,s\n"
		  "2.31,ubuntu20.04,,,,documented,s\n"},
	{"gcc", "version,os,kind" COLUMNS "12.2.0,debian12,default,,,,documented,s\n"
		"9.4.0,ubuntu20.04,default,,,,documented,s\n"},
	{"python", "version,os,kind" COLUMNS "3.11,debian12,default,,,,documented,s\n"
		   "3.8,ubuntu20.04,default,,,,documented,s\n"},
	{"openmpi", "version,os,kind" COLUMNS "4.1.4,debian12,package,,,,documented,s\n"
		    "4.0.7,,source,,,,documented,s\n"},
	{"cuda", "version,os,driver,gcc,sm" COLUMNS
		 "11.8.0,,>=520.61.05,>=6;<12,>=3.5;<=9.0,,,,documented,s\n"},
	{"sources", "id,title,where,certainty\ns,A source,-,documented\n"},
};

static char root[64], whole[80], own[80];

static void remove_folders(void)
{
	struct error err = {0};

	folder_remove(root, &err);
}

static void make_folders(void)
{
	if (*root)
		return;
	snprintf(root, sizeof(root), "/dev/shm/ringup-fuzz-catalog-%d", getpid());
	snprintf(whole, sizeof(whole), "%s/whole", root);
	snprintf(own, sizeof(own), "%s/own", root);
	fuzz_check(mkdir(root, 0700) == 0 && mkdir(whole, 0700) == 0 && mkdir(own, 0700) == 0);
	atexit(remove_folders);
}

static void put(const char *folder, const char *name, const char *text)
{
	_cleanup_(file_close) FILE *file = NULL;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s.csv", folder, name);
	file = fopen(path, "we");
	fuzz_check(file && fputs(text, file) >= 0);
}

static void drop(const char *folder, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s.csv", folder, name);
	unlink(path);
}

/* "FILE:LINE: ...": one of our files, and a line that it has. */
static void check_place(const char *text, const char *name)
{
	const char *colon = strstr(text, ".csv:");
	int line = 0;

	fuzz_check(strncmp(text, root, strlen(root)) == 0);
	fuzz_check(colon && strstr(text, name));
	if (strcmp(colon, ".csv: no header line") == 0)
		return;
	fuzz_check(sscanf(colon, ".csv:%d: ", &line) == 1 && line > 0 && line < 5000);
}

/* Each row of a merged table is a row of one of the two files, with the line that it has there. */
static void check_merged(const struct table *table)
{
	for (size_t row = 0; row < table->row_count; row++) {
		fuzz_check(table->lines[row] > 0);
		fuzz_check(strncmp(table->paths[row], root, strlen(root)) == 0);
		for (size_t c = 0; c < table->column_count; c++)
			fuzz_check(table->cells[row * table->column_count + c]);
	}
}

/* The last of the user's rows with a version stands in the merged table. */
static void check_own_rows(const struct catalog *catalog, const char *name, struct arena *arena)
{
	const struct table *merged = catalog_table(catalog, name);
	struct error err = {0};
	struct table mine;
	size_t last;

	if (table_load(arena_printf(arena, "%s/%s.csv", own, name), arena, &mine, &err) < 0 ||
	    !mine.row_count || strcmp(merged->path, mine.path) == 0)
		return;
	last = mine.row_count - 1;
	for (size_t row = 0; row < merged->row_count; row++)
		if (merged->lines[row] == mine.lines[last] &&
		    strcmp(merged->paths[row], mine.path) == 0) {
			for (size_t c = 0; c < merged->column_count; c++)
				fuzz_check(strcmp(table_cell(merged, row, merged->columns[c]),
						  table_cell(&mine, last, merged->columns[c])) ==
					   0);
			return;
		}
	fuzz_check(!"the user's last row is in the merged table");
}

/* Whatever the rows say, there is a stack, or a reason why there is none. */
static void check_resolve(const struct catalog *catalog, const char *name, struct arena *arena)
{
	struct resolve_input input = {.requests = WORDS(name), .accelerator = "auto"};
	struct unsatisfied why = {0};
	struct error err = {0};
	struct plan plan = {0};
	int rc = resolve(catalog, &input, arena, &plan, &why, &err);

	fuzz_check_error(rc, &err);
	if (rc == 0) {
		fuzz_check(plan.count && plan.count <= PLAN_CHOICES_MAX);
		return;
	}
	fuzz_check(err.kind == ERROR_UNSATISFIED || err.kind == ERROR_USAGE);
	fuzz_check(why.count <= CONFLICTS_MAX && why.suggestion_count <= CONFLICTS_MAX);
	for (size_t i = 0; i < why.count; i++)
		fuzz_check(why.conflicts[i].request && why.conflicts[i].because);
}

static void check_catalog(const char *name, struct arena *arena)
{
	struct model_options options = {.oldest = true};
	struct matrix_report report;
	struct catalog catalog;
	struct error err = {0};
	struct model model;
	int rc = catalog_load_path(WORDS(own, whole), arena, &catalog, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0) {
		fuzz_check(err.kind == ERROR_USAGE);
		check_place(err.text, name);
		return;
	}
	check_merged(catalog_table(&catalog, name));
	check_own_rows(&catalog, name, arena);
	matrix_check(&catalog, arena, &report);
	for (size_t i = 0; i < report.count; i++)
		fuzz_check(report.findings[i].line && report.findings[i].text[0]);
	rc = model_build(&catalog, &options, arena, &model, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0)
		check_place(err.text, name);
	else
		check_resolve(&catalog, name, arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"openmpi",	  "cuda", "image",     "cudnn",	 "nccl",
					    "torch",	  "gpu",  "conflicts", "driver", "horovod",
					    "tensorflow", "gcc",  "python",    "require"};
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	char *rest = strchr(text, '\n'), *second;
	const char *name = NULL;

	if (!rest)
		return 0;
	*rest++ = '\0';
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i], text) == 0)
			name = names[i];
	if (!name)
		return 0;
	second = strstr(rest, "---\n");
	if (second) {
		*second = '\0';
		second += strlen("---\n");
	}
	make_folders();
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put(whole, files[i][0], files[i][1]);
	put(whole, name, rest);
	put(own, name, second ? second : rest);
	check_catalog(name, &arena);
	drop(whole, name);
	drop(own, name);
	return 0;
}
