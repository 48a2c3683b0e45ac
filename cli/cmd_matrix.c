/* SPDX-License-Identifier: MIT */
#include "cli/app/command.h"
#include "cli/app/stage_plan.h"

#include "core/foreign.h"
#include "core/term.h"
#include "resolver/matrix/matrix.h"
#include "resolver/matrix/matrix_check.h"

#include <stdlib.h>
#include <string.h>

struct options {
	bool csv, markdown, all_columns, check;
};

static const struct opt options[] = {
	{0, "csv", NULL, "every column of the rows, as in the files of the catalog", OPT_FLAG,
	 offsetof(struct options, csv)},
	{0, "markdown", NULL, "a table for GitHub", OPT_FLAG, offsetof(struct options, markdown)},
	{0, "all-columns", NULL, "every column, as text or with --markdown", OPT_FLAG,
	 offsetof(struct options, all_columns)},
	{0, "check", NULL, "check every row of the catalog, also your own rows", OPT_FLAG,
	 offsetof(struct options, check)},
	OPT_END,
};

/* --- text ----------------------------------------------------------------------------------- */

static size_t count_columns(const struct matrix *matrix)
{
	size_t count = 0;

	while (matrix->columns[count])
		count++;
	return count;
}

/* "COMPONENT" for "component", as in all headings of ringup. */
static const char *heading(const char *column, struct arena *arena)
{
	char *text = arena_strdup(arena, column);

	for (char *at = text; *at; at++)
		if (*at >= 'a' && *at <= 'z')
			*at = (char)(*at - 'a' + 'A');
	return text;
}

static void print_lines(const struct matrix *matrix, size_t columns, struct arena *arena)
{
	const char **cells = ARENA_ARRAY(arena, columns + 1, const char *);
	struct term_table table;

	for (size_t c = 0; c < columns; c++)
		cells[c] = heading(matrix->columns[c], arena);
	if (!*matrix->name)
		cells[1] = ">ROWS";
	term_table_init(&table, arena, cells);
	for (size_t i = 0; i < matrix->count; i++) {
		for (size_t c = 0; c < columns; c++) {
			const char *cell = matrix_cell(matrix, i, matrix->columns[c]);

			cells[c] = *cell ? matrix_cell_text(cell, arena) : NULL;
		}
		term_table_row(&table, cells);
	}
	term_table_print(&table, stdout);
}

/* One cell per line, since no terminal is wide enough for all columns. Empty cells are left out. */
static void print_records(const struct matrix *matrix, struct arena *arena)
{
	int width = 0;

	for (const char *const *column = matrix->columns; *column; column++)
		if ((int)strlen(*column) > width)
			width = (int)strlen(*column);
	for (size_t i = 0; i < matrix->count; i++) {
		if (i)
			say("\n");
		for (const char *const *column = matrix->columns; *column; column++) {
			const char *cell = matrix_cell(matrix, i, *column);

			if (*cell)
				say("%-*s  %s\n", width, *column, matrix_cell_text(cell, arena));
		}
	}
}

static void matrix_print_text(const struct matrix *matrix, bool all, struct arena *arena)
{
	size_t columns = count_columns(matrix);

	if (all || columns > TERM_COLUMNS_MAX)
		print_records(matrix, arena);
	else
		print_lines(matrix, columns, arena);
}

/* --- for other programs --------------------------------------------------------------------- */

static void print_csv(const struct matrix *matrix)
{
	const struct table *table = matrix->table;

	for (size_t c = 0; c < table->column_count; c++)
		say("%s%s", c ? "," : "", table->columns[c]);
	say("\n");
	for (size_t i = 0; i < matrix->count; i++) {
		const char **cells = table->cells + matrix->rows[i] * table->column_count;

		for (size_t c = 0; c < table->column_count; c++)
			say("%s%s", c ? "," : "", cells[c]);
		say("\n");
	}
}

static void print_escaped(const char *cell)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (; *cell; cell++) {
		if (*cell == '|')
			str_add_char(&text, '\\');
		str_add_char(&text, *cell);
	}
	say_value(text.text);
}

static void print_markdown(const struct matrix *matrix, struct arena *arena)
{
	for (const char *const *column = matrix->columns; *column; column++)
		say("| %s ", *column);
	say("|\n");
	for (const char *const *column = matrix->columns; *column; column++)
		say("|---");
	say("|\n");
	for (size_t i = 0; i < matrix->count; i++) {
		for (const char *const *column = matrix->columns; *column; column++) {
			say("| ");
			print_escaped(matrix_cell_text(matrix_cell(matrix, i, *column), arena));
			say(" ");
		}
		say("|\n");
	}
}

static void matrix_print_json(const struct matrix *matrix)
{
	_cleanup_(json_free) cJSON *json = json_document();
	const struct table *table = matrix->table;
	cJSON *rows;

	if (*matrix->name)
		cJSON_AddStringToObject(json, "component", matrix->name);
	rows = cJSON_AddArrayToObject(json, *matrix->name ? "rows" : "tables");
	for (size_t i = 0; i < matrix->count; i++) {
		const char **cells = table->cells + matrix->rows[i] * table->column_count;
		cJSON *row = cJSON_CreateObject();

		for (size_t c = 0; c < table->column_count; c++)
			if (!*matrix->name && strcmp(table->columns[c], "rows") == 0)
				cJSON_AddNumberToObject(row, "rows", strtod(cells[c], NULL));
			else
				cJSON_AddStringToObject(row, table->columns[c], cells[c]);
		cJSON_AddItemToArray(rows, row);
	}
	json_print(stdout, json);
}

/* --- the check ------------------------------------------------------------------------------ */

static void print_report(const struct context *ctx, const struct matrix_report *report)
{
	_cleanup_(json_free) cJSON *json = json_document();
	cJSON *list;

	for (size_t i = 0; i < report->count && !ctx->json; i++)
		say("%s:%zu: %s\n", report->findings[i].file, report->findings[i].line,
		    report->findings[i].text);
	if (!ctx->json && !report->count)
		say("%zu rows in %zu files\n", report->rows, report->files);
	if (!ctx->json)
		return;
	cJSON_AddNumberToObject(json, "rows", (double)report->rows);
	cJSON_AddNumberToObject(json, "files", (double)report->files);
	list = cJSON_AddArrayToObject(json, "findings");
	for (size_t i = 0; i < report->count; i++) {
		cJSON *finding = cJSON_CreateObject();

		cJSON_AddStringToObject(finding, "file", report->findings[i].file);
		cJSON_AddNumberToObject(finding, "line", (double)report->findings[i].line);
		cJSON_AddStringToObject(finding, "text", report->findings[i].text);
		cJSON_AddItemToArray(list, finding);
	}
	json_print(stdout, json);
}

static int matrix_check_rows(struct stages *s, struct error *err)
{
	struct matrix_report report;

	matrix_check(&s->catalog, s->arena, &report);
	print_report(s->ctx, &report);
	if (!report.count)
		return 0;
	return error_set(err, ERROR_FAILED, "%zu %s in %zu rows of %zu files", report.count,
			 report.count == 1 ? "finding" : "findings", report.rows, report.files);
}

/* A file that is no table at all ("FILE:LINE: text") is the only finding: nothing else can be read. */
static int refuse_file(const struct context *ctx, struct error *err)
{
	const char *file = arena_strdup(ctx->arena, err->text), *colon = strstr(file, ".csv:");
	struct matrix_finding finding = {.file = file};
	struct matrix_report report = {.count = 1, .findings = &finding};
	char *end;

	if (!colon)
		return -1;
	finding.file = arena_strndup(ctx->arena, file, (size_t)(colon - file) + strlen(".csv"));
	finding.line = strtoul(colon + strlen(".csv:"), &end, 10);
	finding.text = end + strspn(end, ": ");
	print_report(ctx, &report);
	return error_set(err, ERROR_FAILED, "1 finding; the rest can be checked after that");
}

/* ------------------------------------------------------------------------------------------- */

static void matrix_print(const struct context *ctx, const struct options *o,
			 const struct matrix *matrix)
{
	if (ctx->json)
		matrix_print_json(matrix);
	else if (o->csv)
		print_csv(matrix);
	else if (o->markdown)
		print_markdown(matrix, ctx->arena);
	else
		matrix_print_text(matrix, o->all_columns && *matrix->name, ctx->arena);
}

static int check_options(const struct context *ctx, const struct options *o,
			 const char *const *arguments, struct error *err)
{
	if (ctx->json + o->csv + o->markdown > 1)
		return error_set(err, ERROR_USAGE,
				 "--json, --csv and --markdown: one of them, not several");
	if (o->check && (*arguments || o->csv || o->markdown || o->all_columns))
		return error_set(
			err, ERROR_USAGE,
			"--check looks at the whole catalog: it takes no other option than --json, and no words");
	return 0;
}

static int matrix_run(struct context *ctx, void *values, const char *const *arguments,
		      struct error *err)
{
	const struct options *o = values;
	struct stages s = {.ctx = ctx, .arena = ctx->arena};
	struct matrix matrix;

	if (check_options(ctx, o, arguments, err) < 0)
		return -1;
	if (stage_catalog(&s, err) < 0)
		return o->check ? refuse_file(ctx, err) : -1;
	if (o->check)
		return matrix_check_rows(&s, err);
	if (!*arguments)
		matrix_list(&s.catalog, s.arena, &matrix);
	else if (matrix_read(&s.catalog, arguments[0], arguments + 1, s.arena, &matrix, err) < 0 &&
		 !(ctx->json && err->kind == ERROR_UNSATISFIED))
		return -1;
	if (o->all_columns)
		matrix_show_all(&matrix, s.arena);
	matrix_print(ctx, o, &matrix);
	return err->kind == ERROR_NONE ? 0 : -1;
}

const struct command command_matrix = {
	.name = "matrix",
	.arguments = "[COMPONENT [REQ...]]",
	.summary = "what goes with what: the rows of the catalog that fit",
	.help = "Without COMPONENT the tables are listed. Each REQ keeps only the rows that go with it: those\n"
		"that are part of a stack that satisfies every REQ, as in 'resolve', or, when REQ names a column,\n"
		"those whose cell fits. The newest row comes first. The exit status is 3 when no row fits.\n\n"
		"  ringup matrix tensorflow                      every TensorFlow, and what it needs\n"
		"  ringup matrix cuda 'driver==470'              the CUDAs that a driver can run\n"
		"  ringup matrix torch gpu==V100 'driver==535.54.03'\n"
		"  ringup matrix nccl 'cuda==11.*' kind==apt --csv\n"
		"  ringup matrix image 'cuda==11.2' status==gone os==ubuntu20.04\n"
		"  ringup matrix conflicts 'openmpi==3.1.3'      what is known to break\n"
		"  ringup matrix --check                         after you wrote rows of your own\n",
	.options = options,
	.options_bytes = sizeof(struct options),
	.max_arguments = -1,
	.run = matrix_run,
};
