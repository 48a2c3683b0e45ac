/* SPDX-License-Identifier: MIT */
#include "core/term.h"

#include "core/foreign.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool term_is_tty(FILE *stream)
{
	return isatty(fileno(stream));
}

int term_width(FILE *stream)
{
	struct winsize size;

	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 20)
		return size.ws_col;
	return 80;
}

bool term_color(FILE *stream, const char *mode)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	if (strcmp(mode, "always") == 0)
		return true;
	if (strcmp(mode, "never") == 0 || (no_color && *no_color))
		return false;
	return term_is_tty(stream) && !(term && strcmp(term, "dumb") == 0);
}

void term_table_init(struct term_table *table, struct arena *arena, const char *const *header)
{
	*table = (struct term_table){.arena = arena, .capacity = 32};
	while (header[table->column_count] && table->column_count < TERM_COLUMNS_MAX)
		table->column_count++;
	table->cells = ARENA_ARRAY(arena, table->capacity * table->column_count, const char *);
	for (size_t i = 0; i < table->column_count; i++) {
		table->right[i] = header[i][0] == '>';
		table->cells[i] = header[i] + table->right[i];
	}
	table->row_count = 1;
}

void term_table_row(struct term_table *table, const char *const *cells)
{
	const char **row;

	if (table->row_count == table->capacity) {
		size_t used = table->capacity * table->column_count;
		const char **larger = ARENA_ARRAY(table->arena, used * 2, const char *);

		memcpy(larger, table->cells, used * sizeof(*larger));
		table->cells = larger;
		table->capacity *= 2;
	}
	row = table->cells + table->row_count++ * table->column_count;
	for (size_t i = 0; i < table->column_count; i++)
		row[i] = cells[i] ? foreign_clean_line(arena_strdup(table->arena, cells[i])) : "-";
}

void term_table_print(const struct term_table *table, FILE *out)
{
	size_t widths[TERM_COLUMNS_MAX] = {0};

	for (size_t i = 0; i < table->row_count * table->column_count; i++) {
		size_t *width = &widths[i % table->column_count];
		size_t length = strlen(table->cells[i]);

		*width = length > *width ? length : *width;
	}
	for (size_t r = 0; r < table->row_count; r++) {
		for (size_t c = 0; c < table->column_count; c++) {
			const char *cell = table->cells[r * table->column_count + c];
			int width = (int)widths[c];

			if (c + 1 == table->column_count && !table->right[c])
				fprintf(out, "%s", cell);
			else
				fprintf(out, "%*s", table->right[c] ? width : -width, cell);
			if (c + 1 < table->column_count)
				fputs("  ", out);
		}
		fputc('\n', out);
	}
}
