/* SPDX-License-Identifier: MIT */
/* CSV tables: every cell of an accepted table can be read. */
#include "tests/fuzz/fuzz.h"

#include "core/table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct table table;
	struct error err = {0};
	size_t last = 0;
	int rc = table_load(fuzz_file(data, size), &arena, &table, &err);

	fuzz_check_error(rc, &err);
	for (size_t row = 0; rc == 0 && row < table.row_count; row++) {
		fuzz_check(table.lines[row] > last);
		last = table.lines[row];
		for (size_t column = 0; column < table.column_count; column++) {
			const char *cell = table_cell(&table, row, table.columns[column]);

			fuzz_check(cell && !strpbrk(cell, ",\n"));
		}
		fuzz_check(!*table_cell(&table, row, "no,such"));
	}
	return 0;
}
