/* SPDX-License-Identifier: MIT */
#include "upstream/write.h"

#include "core/file.h"
#include "core/words.h"
#include "plan/version.h"
#include "resolver/matrix/matrix.h"
#include "resolver/matrix/matrix_check.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRITE_COLUMNS_MAX 64

/* The lines of one file while it is changed. */
struct write_lines {
	struct arena *arena;
	const char *path;
	size_t count, capacity;
	const char **lines;
	size_t header; /* number of the header line, from 0 */
	size_t column_count;
	const char *columns[WRITE_COLUMNS_MAX]; /* of the file */
};

static void write_insert(struct write_lines *w, size_t at, const char *line)
{
	if (w->count == w->capacity) {
		const char **old = w->lines;

		w->capacity = w->capacity ? w->capacity * 2 : 256;
		w->lines = ARENA_ARRAY(w->arena, w->capacity, const char *);
		if (old)
			memcpy(w->lines, old, w->count * sizeof(*old));
	}
	memmove(w->lines + at + 1, w->lines + at, (w->count - at) * sizeof(*w->lines));
	w->lines[at] = line;
	w->count++;
}

static bool write_is_row(const struct write_lines *w, size_t line)
{
	return line > w->header && *w->lines[line] && *w->lines[line] != '#';
}

/* The text and its columns; a missing file begins with the header of the first change. */
static int write_split(struct write_lines *w, const char *text, struct error *err)
{
	while (*text) {
		size_t length = strcspn(text, "\n");

		write_insert(w, w->count, arena_strndup(w->arena, text, length));
		text += length + (text[length] == '\n');
	}
	while (w->header < w->count && (!*w->lines[w->header] || *w->lines[w->header] == '#'))
		w->header++;
	if (w->header == w->count)
		return error_set(err, ERROR_USAGE, "%s: no header line", w->path);
	for (const char *at = w->lines[w->header]; w->column_count < WRITE_COLUMNS_MAX;) {
		size_t length = strcspn(at, ",");

		w->columns[w->column_count++] = arena_strndup(w->arena, at, length);
		if (!at[length])
			break;
		at += length + 1;
	}
	return 0;
}

/* A cell of a line by its column's name, in the arena; "" when it has none. */
static const char *write_cell(const struct write_lines *w, const char *line, const char *column)
{
	for (size_t i = 0; i < w->column_count; i++) {
		size_t length = strcspn(line, ",");

		if (strcmp(w->columns[i], column) == 0)
			return arena_strndup(w->arena, line, length);
		line += length;
		if (!*line++)
			break;
	}
	return "";
}

static const char *write_change_cell(const struct row_change *change, const char *column)
{
	for (size_t i = 0; i < change->column_count; i++)
		if (strcmp(change->columns[i], column) == 0)
			return change->cells[i];
	return "";
}

static bool write_has_column(const struct write_lines *w, const char *column)
{
	for (size_t i = 0; i < w->column_count; i++)
		if (strcmp(w->columns[i], column) == 0)
			return true;
	return false;
}

/* The change as a line of this file, in the order of its columns. */
static int write_line(struct write_lines *w, const struct row_change *change, const char **line,
		      struct error *err)
{
	_cleanup_(str_release) struct str text = STR_INIT;

	for (size_t i = 0; i < change->column_count; i++)
		if (*change->cells[i] && !write_has_column(w, change->columns[i]))
			return error_set(
				err, ERROR_USAGE,
				"%s has no column '%s', which the row of %s needs; add it to the header line",
				w->path, change->columns[i], change->version);
	for (size_t i = 0; i < w->column_count; i++)
		str_addf(&text, "%s%s", i ? "," : "", write_change_cell(change, w->columns[i]));
	*line = arena_strdup(w->arena, text.text);
	return 0;
}

/* Rows of one component and major CUDA stand together in wheel.csv. */
static bool write_same_group(const struct write_lines *w, size_t line,
			     const struct row_change *change)
{
	static const char *const groups[] = {"component", "built"};

	if (!write_has_column(w, groups[0]))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		if (strcmp(write_cell(w, w->lines[line], groups[i]),
			   write_change_cell(change, groups[i])) != 0)
			return false;
	return true;
}

/* Where the row belongs: its file may have the oldest version first, or the newest. */
static size_t write_place(const struct write_lines *w, const struct row_change *change)
{
	const char *first = NULL, *last = NULL, *column = w->columns[0];
	size_t behind = 0, before = 0, end = 0;

	for (size_t i = 0; i < w->count; i++) {
		const char *version;

		if (!write_is_row(w, i) || !write_same_group(w, i, change))
			continue;
		version = write_cell(w, w->lines[i], column);
		first = first ? first : version;
		last = version;
		end = i + 1;
		if (version_compare(version, change->version) <= 0)
			behind = i + 1;
		if (!before && version_compare(version, change->version) < 0)
			before = i;
	}
	if (!first || strcmp(column, "version") != 0)
		return w->count;
	if (version_compare(first, last) > 0)
		return before ? before : end;
	return behind ? behind : w->header + 1;
}

static int write_one(struct write_lines *w, const struct row_change *change, struct error *err)
{
	const char *line = NULL;

	if (write_line(w, change, &line, err) < 0)
		return -1;
	if (change->path && strcmp(change->path, w->path) == 0 && change->line) {
		/* line numbers are those of the file when it was loaded */
		if (change->line > w->count ||
		    strcmp(write_cell(w, w->lines[change->line - 1], w->columns[0]),
			   change->version) != 0)
			return error_set(err, ERROR_FAILED,
					 "%s has changed meanwhile; run the same command again",
					 w->path);
		w->lines[change->line - 1] = line;
		return 0;
	}
	write_insert(w, write_place(w, change), line);
	return 0;
}

static const char *write_header(const struct row_change *change, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	for (size_t i = 0; i < change->column_count; i++)
		words_add(&words, change->columns[i]);
	return words_join(&words, ",");
}

/* Filled rows go first, while line numbers are those of the file. */
int rows_edit(const struct rows *rows, const char *table, const char *path, const char *text,
	      struct arena *arena, const char **edited, struct error *err)
{
	struct write_lines w = {.arena = arena, .path = path};
	_cleanup_(str_release) struct str out = STR_INIT;
	bool is_split = false;

	for (int is_new = 0; is_new < 2; is_new++)
		for (size_t i = 0; i < rows->count; i++) {
			const struct row_change *change = &rows->changes[i];
			bool replaces = change->path && strcmp(change->path, path) == 0;

			if (strcmp(change->table, table) != 0 || change->news == ROW_DIFFERS ||
			    replaces == (is_new == 1))
				continue;
			if (!is_split &&
			    write_split(&w, *text ? text : write_header(change, arena), err) < 0)
				return -1;
			is_split = true;
			if (write_one(&w, change, err) < 0)
				return -1;
		}
	for (size_t i = 0; i < w.count; i++)
		str_addf(&out, "%s\n", w.lines[i]);
	*edited = arena_strdup(arena, out.text);
	return 0;
}

/* --- all files ------------------------------------------------------------------------------ */

/* One file of the folder as it will be. */
struct write_file {
	const char *name, *text;
	const char *old; /* what is there now; NULL: nothing */
	bool is_changed;
};

/* Tables that are read, and those that a refresh adds. */
#define WRITE_FILES_MAX (CATALOG_COMPONENTS_MAX * 2)
#define WRITE_NEW_MAX 32

struct write_folder {
	struct arena *arena;
	size_t count;
	struct write_file files[WRITE_FILES_MAX + WRITE_NEW_MAX];
};

static const char *write_path(const struct write_folder *f, const char *folder, const char *name)
{
	return arena_printf(f->arena, "%s/%s", folder, name);
}

static int write_read_folder(struct write_folder *f, const char *folder, struct error *err)
{
	const char **names;

	if (!file_exists(folder))
		return 0;
	if (folder_list(folder, ".csv", f->arena, &names, err) < 0)
		return -1;
	for (; *names; names++) {
		char *text;

		if ((*names)[0] == '.')
			continue;
		if (f->count == WRITE_FILES_MAX)
			return error_set(err, ERROR_USAGE, "%s holds more than %d tables", folder,
					 WRITE_FILES_MAX);
		if (file_read(write_path(f, folder, *names), FILE_CEILING_BYTES, f->arena, &text,
			      NULL, err) < 0)
			return -1;
		f->files[f->count++] = (struct write_file){*names, text, text, false};
	}
	return 0;
}

static struct write_file *write_find(struct write_folder *f, const char *name)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->files[i].name, name) == 0)
			return &f->files[i];
	f->files[f->count] = (struct write_file){.name = name, .text = ""};
	return &f->files[f->count++];
}

static int write_edit_all(struct write_folder *f, const struct rows *rows, const char *folder,
			  struct error *err)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row_change *change = &rows->changes[i];
		const char *name = arena_printf(f->arena, "%s.csv", change->table);
		struct write_file *file;

		if (change->news == ROW_DIFFERS)
			continue;
		file = write_find(f, name);
		if (file->is_changed)
			continue;
		file->is_changed = true;
		if (rows_edit(rows, change->table, write_path(f, folder, name), file->text,
			      f->arena, &file->text, err) < 0)
			return -1;
	}
	return 0;
}

/* Loads the folder as it will be, from a copy, with those that are read behind it. */
static int write_check(struct write_folder *f, const char *copy, const char *const *folders,
		       struct error *err)
{
	struct words path = WORDS_INIT(f->arena);
	struct matrix_report report;
	struct catalog catalog;

	for (size_t i = 0; i < f->count; i++)
		if (file_write(write_path(f, copy, f->files[i].name), f->files[i].text,
			       strlen(f->files[i].text), 0600, err) < 0)
			return -1;
	words_add(&path, copy);
	words_add_all(&path, folders + 1);
	if (catalog_load_path(path.list, f->arena, &catalog, err) < 0)
		return -1;
	matrix_check(&catalog, f->arena, &report);
	if (!report.count)
		return 0;
	return error_set(
		err, ERROR_FAILED,
		"nothing is written: %zu %s in the rows as they would be, first %s:%zu: %s; run 'ringup matrix --check' for those that are there",
		report.count, report.count == 1 ? "finding" : "findings",
		strrchr(report.findings[0].file, '/') + 1, report.findings[0].line,
		report.findings[0].text);
}

/* Puts back the first `count` files after a failure: a catalog is written as a whole or not at all. */
static void write_put_back(const struct write_folder *f, const char *folder, size_t count)
{
	struct error ignored = {0};

	for (size_t i = 0; i < count; i++) {
		const struct write_file *file = &f->files[i];
		const char *path = write_path(f, folder, file->name);

		if (file->is_changed && file->old)
			file_write(path, file->old, strlen(file->old), 0644, &ignored);
		else if (file->is_changed)
			unlink(path);
	}
}

static int write_put_all(const struct write_folder *f, const char *folder, struct error *err)
{
	if (folder_make(folder, 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < f->count; i++)
		if (f->files[i].is_changed &&
		    file_write(write_path(f, folder, f->files[i].name), f->files[i].text,
			       strlen(f->files[i].text), 0644, err) < 0) {
			write_put_back(f, folder, i);
			return -1;
		}
	return 0;
}

int rows_write(const struct rows *rows, const char *const *folders, struct error *err)
{
	struct write_folder *f = ARENA_NEW(rows->arena, struct write_folder);
	const char *temporary = getenv("TMPDIR");
	struct error ignored = {0};
	char *copy;
	int rc;

	f->arena = rows->arena;
	if (write_read_folder(f, folders[0], err) < 0 ||
	    write_edit_all(f, rows, folders[0], err) < 0)
		return -1;
	copy = arena_printf(f->arena, "%s/ringup-catalog-XXXXXX",
			    temporary && *temporary ? temporary : "/tmp");
	if (!mkdtemp(copy))
		return error_errno(err, "%s", copy);
	rc = write_check(f, copy, folders, err);
	folder_remove(copy, &ignored);
	return rc < 0 ? -1 : write_put_all(f, folders[0], err);
}
