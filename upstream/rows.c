/* SPDX-License-Identifier: MIT */
#include "upstream/rows.h"

#include "core/str.h"
#include "plan/version.h"
#include "upstream/limits.h"

#include <stdio.h>
#include <string.h>

#define ROWS_CELL_BYTES_MAX 4000
#define ROWS_PYTHON_MINORS 40

/* --- facts ---------------------------------------------------------------------------------- */

void fact_add(struct fact_list *facts, enum fact_use use, const char *column, const char *cell)
{
	if (facts->count < FACTS_MAX)
		facts->list[facts->count++] = (struct fact){column, cell, use};
}

void fact_addf(struct fact_list *facts, enum fact_use use, const char *when, const char *column,
	       const char *format, ...)
{
	_cleanup_(str_release) struct str cell = STR_INIT;
	va_list args;

	if (!*when)
		return;
	va_start(args, format);
	str_vaddf(&cell, format, args);
	va_end(args);
	fact_add(facts, use, column, arena_strdup(facts->arena, cell.text));
}

/* --- rows of a table ------------------------------------------------------------------------ */

static bool rows_has_cells(const struct table *table, size_t row, const struct fact *cells)
{
	for (; cells && cells->column; cells++)
		if (strcmp(table_cell(table, row, cells->column), cells->cell) != 0)
			return false;
	return true;
}

ssize_t rows_find(const struct table *table, const char *version, const struct fact *keys)
{
	for (size_t row = 0; row < table->row_count; row++)
		if (strcmp(table_cell(table, row, table->columns[0]), version) == 0 &&
		    rows_has_cells(table, row, keys))
			return (ssize_t)row;
	return -1;
}

/* The newest row that is not newer than `until` (NULL: any). */
static ssize_t rows_newest_until(const struct table *table, const struct fact *cells,
				 const char *until)
{
	ssize_t best = -1;

	for (size_t row = 0; row < table->row_count; row++)
		if (rows_has_cells(table, row, cells) &&
		    (!until || version_compare(table_cell(table, row, "version"), until) <= 0) &&
		    (best < 0 || version_compare(table_cell(table, (size_t)best, "version"),
						 table_cell(table, row, "version")) < 0))
			best = (ssize_t)row;
	return best;
}

ssize_t rows_newest(const struct table *table, const struct fact *cells)
{
	return rows_newest_until(table, cells, NULL);
}

const char *rows_oldest(const struct table *table, const struct fact *cells)
{
	const char *oldest = NULL;

	for (size_t row = 0; row < table->row_count; row++) {
		const char *version = table_cell(table, row, "version");

		if (rows_has_cells(table, row, cells) &&
		    (!oldest || version_compare(version, oldest) < 0))
			oldest = version;
	}
	return oldest;
}

size_t rows_count(const struct rows *rows, enum row_news news)
{
	size_t count = 0;

	for (size_t i = 0; i < rows->count; i++)
		count += rows->changes[i].news == news;
	return count;
}

/* --- cells ---------------------------------------------------------------------------------- */

/* What the dialect of the tables can hold, and a terminal may be shown. */
static bool rows_can_hold(const char *cell)
{
	if (strlen(cell) > ROWS_CELL_BYTES_MAX)
		return false;
	for (const char *p = cell; *p; p++)
		if (*p < ' ' || *p > '~' || *p == ',' || *p == '"')
			return false;
	return *cell != ' ' && (!*cell || cell[strlen(cell) - 1] != ' ');
}

static bool rows_are_fine(const struct offer *offer)
{
	if (!*offer->version || strlen(offer->version) > NAME_BYTES_MAX ||
	    !rows_can_hold(offer->version) || *offer->version == '#' || !rows_can_hold(offer->note))
		return false;
	for (const struct fact *f = offer->keys; f && f->column; f++)
		if (!rows_can_hold(f->cell))
			return false;
	for (const struct fact *f = offer->facts; f && f->column; f++)
		if (!rows_can_hold(f->cell))
			return false;
	return true;
}

/* Two requirement cells on Python are the same when the same Pythons fit. */
static bool rows_same_pythons(const char *a, const char *b, struct arena *arena)
{
	struct error ignored = {0};
	struct needs left, right;
	char version[16];

	if (needs_parse(a, arena, &left, &ignored) < 0 ||
	    needs_parse(b, arena, &right, &ignored) < 0)
		return false;
	if (needs_admit(&left, "2.7") != needs_admit(&right, "2.7"))
		return false;
	for (int minor = 3; minor < ROWS_PYTHON_MINORS; minor++) {
		snprintf(version, sizeof(version), "3.%d", minor);
		if (needs_admit(&left, version) != needs_admit(&right, version))
			return false;
	}
	return true;
}

/* The value behind "NAME==" in a cell of items joined by ';', or NULL. */
static const char *rows_item(const char *cell, const char *name, size_t name_bytes, size_t *length)
{
	while (*cell) {
		size_t item = strcspn(cell, ";");

		if (item > name_bytes + 2 && strncmp(cell, name, name_bytes) == 0 &&
		    strncmp(cell + name_bytes, "==", 2) == 0) {
			*length = item - name_bytes - 2;
			return cell + name_bytes + 2;
		}
		cell += item + (cell[item] == ';');
	}
	return NULL;
}

/* "cudnn==A;nccl==B": the names that both cells have must have the same versions. */
static bool rows_same_items(const char *old, const char *new)
{
	for (const char *at = new; *at;) {
		size_t item = strcspn(at, ";"), old_bytes, new_bytes;
		const char *sign = strstr(at, "=="), *a, *b;

		if (sign && sign < at + item) {
			a = rows_item(old, at, (size_t)(sign - at), &old_bytes);
			b = rows_item(new, at, (size_t)(sign - at), &new_bytes);
			if (a && b && (old_bytes != new_bytes || strncmp(a, b, old_bytes) != 0))
				return false;
		}
		at += item + (at[item] == ';');
	}
	return true;
}

static bool rows_agree(const char *column, const char *old, const char *new, struct arena *arena)
{
	if (strcmp(column, "python") == 0)
		return rows_same_pythons(old, new, arena);
	if (strcmp(column, "brings") == 0)
		return rows_same_items(old, new);
	return strcmp(old, new) == 0;
}

/* --- changes -------------------------------------------------------------------------------- */

static struct row_change *rows_add(struct rows *rows, enum row_news news, const char *name,
				   const char *version, const char *source, const char *url)
{
	if (rows->count == rows->capacity) {
		struct row_change *old = rows->changes;

		rows->capacity = rows->capacity ? rows->capacity * 2 : 32;
		rows->changes = ARENA_ARRAY(rows->arena, rows->capacity, struct row_change);
		if (old)
			memcpy(rows->changes, old, rows->count * sizeof(*old));
	}
	rows->changes[rows->count] = (struct row_change){.news = news,
							 .table = name,
							 .version = version,
							 .what = "",
							 .source = source,
							 .url = url};
	return &rows->changes[rows->count++];
}

static void rows_set(struct row_change *change, const char *column, const char *cell)
{
	for (size_t i = 0; i < change->column_count; i++)
		if (strcmp(change->columns[i], column) == 0)
			change->cells[i] = cell;
}

static void rows_take_row(struct rows *rows, struct row_change *change, const struct table *table,
			  ssize_t row)
{
	change->column_count = table->column_count;
	change->columns = table->columns;
	change->cells = ARENA_ARRAY(rows->arena, table->column_count, const char *);
	for (size_t i = 0; i < table->column_count; i++)
		change->cells[i] =
			row < 0 ? "" : table->cells[(size_t)row * table->column_count + i];
	if (row >= 0) {
		change->path = table->paths[row];
		change->line = table->lines[row];
	}
}

/* Adds "; word" or "word". */
static const char *rows_join(struct rows *rows, const char *list, const char *between,
			     const char *word)
{
	if (!*list || !*word)
		return *list ? list : word;
	return arena_printf(rows->arena, "%s%s%s", list, between, word);
}

/* --- a row that is there -------------------------------------------------------------------- */

/* Whether somebody has looked at this word of upstream, and kept the row as it is (reviewed.csv). */
static bool rows_was_reviewed(const struct rows *rows, const struct offer *offer,
			      const struct fact *fact)
{
	const struct table *table = catalog_table(rows->catalog, "reviewed");

	for (size_t row = 0; table && row < table->row_count; row++)
		if (strcmp(table_cell(table, row, "component"), offer->table) == 0 &&
		    strcmp(table_cell(table, row, "versions"), offer->version) == 0 &&
		    strcmp(table_cell(table, row, "column"), fact->column) == 0 &&
		    strcmp(table_cell(table, row, "upstream"), fact->cell) == 0)
			return true;
	return false;
}

static void rows_contradict(struct rows *rows, const struct offer *offer, const struct table *table,
			    size_t row, const struct fact *fact)
{
	struct row_change *change = rows_add(rows, ROW_DIFFERS, offer->table, offer->version,
					     offer->source, offer->url);

	change->what = arena_printf(rows->arena, "%s: the row says %s; upstream says %s",
				    fact->column, table_cell(table, row, fact->column), fact->cell);
	change->path = table->paths[row];
	change->line = table->lines[row];
}

static void rows_compare(struct rows *rows, const struct offer *offer, const struct table *table,
			 size_t row)
{
	struct row_change *change = NULL;

	for (const struct fact *f = offer->facts; f && f->column; f++) {
		const char *old = table_cell(table, row, f->column);

		if (!*f->cell || f->use == FACT_NEW || !table_has_column(table, f->column))
			continue;
		if (*old) {
			if (f->use == FACT_COMPARED &&
			    !rows_agree(f->column, old, f->cell, rows->arena) &&
			    !rows_was_reviewed(rows, offer, f))
				rows_contradict(rows, offer, table, row, f);
			continue;
		}
		if (!change) {
			change = rows_add(rows, ROW_FILLED, offer->table, offer->version,
					  offer->source, offer->url);
			rows_take_row(rows, change, table, (ssize_t)row);
		}
		rows_set(change, f->column, f->cell);
		change->what = rows_join(rows, change->what, "; ",
					 arena_printf(rows->arena, "%s %s", f->column, f->cell));
	}
	if (change &&
	    !list_has(table_cell(table, row, "source"), offer->source, strlen(offer->source)))
		rows_set(change, "source",
			 rows_join(rows, table_cell(table, row, "source"), ";", offer->source));
}

/* --- a row that is missing ------------------------------------------------------------------ */

/* Copies what upstream does not say; the names of these columns, or "". */
static const char *rows_copy(struct rows *rows, const struct offer *offer,
			     const struct table *table, size_t model, struct row_change *change)
{
	const char *names = "";

	for (const char *const *column = offer->copied; column && *column; column++) {
		const char *cell = table_cell(table, model, *column);
		bool is_said = false;

		for (const struct fact *f = offer->facts; f && f->column; f++)
			is_said |= strcmp(f->column, *column) == 0 && *f->cell;
		if (!*cell || is_said)
			continue;
		rows_set(change, *column, cell);
		names = rows_join(rows, names, " ", *column);
	}
	return names;
}

/* Whether the same row was offered before in this run: several repositories hold the same packages. */
static bool rows_was_offered(const struct rows *rows, const struct offer *offer)
{
	for (size_t i = 0; i < rows->count; i++) {
		const struct row_change *c = &rows->changes[i];
		bool same = c->news == ROW_NEW && strcmp(c->table, offer->table) == 0 &&
			    strcmp(c->version, offer->version) == 0;

		for (const struct fact *key = offer->keys; same && key && key->column; key++)
			for (size_t k = 0; k < c->column_count; k++)
				if (strcmp(c->columns[k], key->column) == 0)
					same = strcmp(c->cells[k], key->cell) == 0;
		if (same)
			return true;
	}
	return false;
}

static void rows_enter(struct rows *rows, const struct offer *offer, const struct table *table)
{
	const struct fact *alike = offer->alike ? offer->alike : offer->keys;
	ssize_t model = rows_newest_until(table, alike, offer->version);
	struct row_change *change =
		rows_add(rows, ROW_NEW, offer->table, offer->version, offer->source, offer->url);
	const char *note = offer->note, *copied = "";

	if (model < 0)
		model = rows_newest(table, alike);
	rows_take_row(rows, change, table, -1);
	rows_set(change, table->columns[0], offer->version);
	if (model >= 0)
		copied = rows_copy(rows, offer, table, (size_t)model, change);
	for (const struct fact *f = offer->keys; f && f->column; f++)
		rows_set(change, f->column, f->cell);
	for (const struct fact *f = offer->facts; f && f->column; f++) {
		rows_set(change, f->column, f->cell);
		if (f->use == FACT_COMPARED && *f->cell && strcmp(f->column, "sha256") != 0)
			change->what =
				rows_join(rows, change->what, "; ",
					  arena_printf(rows->arena, "%s %s", f->column, f->cell));
	}
	if (model >= 0 && offer->copies_note)
		note = rows_join(rows, table_cell(table, (size_t)model, "note"), "; ", note);
	if (*copied)
		note = rows_join(rows, note, "; ",
				 arena_printf(rows->arena, "%s as of %s", copied,
					      table_cell(table, (size_t)model, "version")));
	if (!*change->what)
		change->what = note;
	rows_set(change, "note", note);
	rows_set(change, "certainty", *copied ? "inferred" : "documented");
	rows_set(change, "source", offer->source);
}

void rows_offer(struct rows *rows, const struct offer *offer)
{
	const struct table *table = catalog_table(rows->catalog, offer->table);
	ssize_t row;

	if (!table || !rows_are_fine(offer)) {
		rows->odd++;
		return;
	}
	row = rows_find(table, offer->version, offer->keys);
	if (row >= 0)
		rows_compare(rows, offer, table, (size_t)row);
	else if (!rows_was_offered(rows, offer))
		rows_enter(rows, offer, table);
}

void rows_look(struct rows *rows, const char *name, const char *version, const char *what,
	       const char *source, const char *url)
{
	if (rows_can_hold(version) && rows_can_hold(what))
		rows_add(rows, ROW_DIFFERS, name, version, source, url)->what = what;
}

/* --- rows that refresh keeps for itself ----------------------------------------------------- */

void rows_source(struct rows *rows, const char *id, const char *title, const char *where)
{
	const struct table *table = catalog_table(rows->catalog, "sources");
	struct row_change *change;

	if (!table || rows_find(table, id, NULL) >= 0)
		return;
	for (size_t i = 0; i < rows->count; i++)
		if (strcmp(rows->changes[i].table, "sources") == 0 &&
		    strcmp(rows->changes[i].version, id) == 0)
			return;
	change = rows_add(rows, ROW_STAMP, "sources", id, id, where);
	rows_take_row(rows, change, table, -1);
	rows_set(change, "id", id);
	rows_set(change, "title", title);
	rows_set(change, "where", where);
	rows_set(change, "certainty", "documented");
}

void rows_stamp(struct rows *rows, const char *component, const char *source)
{
	static const char *const columns[] = {"name", "date", "certainty", "source"};
	static const struct table none = {.path = ""};
	const struct table *table = catalog_table(rows->catalog, "updated");
	ssize_t row = table ? rows_find(table, component, NULL) : -1;
	struct row_change *change;

	if (row >= 0 && strcmp(table_cell(table, (size_t)row, "date"), rows->today) >= 0)
		return;
	change = rows_add(rows, ROW_STAMP, "updated", component, source, "");
	rows_take_row(rows, change, table ? table : &none, row);
	if (!table) {
		change->column_count = ARRAY_LEN(columns);
		change->columns = columns;
		change->cells = ARENA_ARRAY(rows->arena, ARRAY_LEN(columns), const char *);
		for (size_t i = 0; i < ARRAY_LEN(columns); i++)
			change->cells[i] = "";
	}
	rows_set(change, "name", component);
	rows_set(change, "date", rows->today);
	rows_set(change, "certainty", "documented");
	rows_set(change, "source", source);
}
