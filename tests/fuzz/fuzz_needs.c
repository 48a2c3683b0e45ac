/* SPDX-License-Identifier: MIT */
/* Requirement cells of the catalog: versions on the first lines, the cell on the last. */
#include "tests/fuzz/fuzz.h"

#include "resolver/matrix/matrix.h"
#include "plan/version.h"

static size_t count_of(const char *text, char c)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == c;
	return count;
}

/* One alternative admits what the same text admits as a cell of its own: the cell is their "or". */
static bool any_admits(const char *cell, const char *version, struct arena *arena)
{
	char *rest = arena_strdup(arena, cell), *one;
	struct error err = {0};
	struct needs needs;

	while ((one = strsep(&rest, "|"))) {
		if (!*one) /* after the last bar */
			continue;
		fuzz_check(needs_parse(one, arena, &needs, &err) == 0 && needs.count == 1);
		if (needs_admit(&needs, version))
			return true;
	}
	return false;
}

/* A clause and its opposite never agree. */
static void check_opposites(const char *version, const char *than, struct arena *arena)
{
	static const char *const pairs[][2] = {{"==", "!="}, {">=", "<"}, {"<=", ">"}};
	struct error err = {0};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct needs yes, no;

		if (needs_parse(arena_printf(arena, "%s%s", pairs[i][0], than), arena, &yes, &err) <
			    0 ||
		    needs_parse(arena_printf(arena, "%s%s", pairs[i][1], than), arena, &no, &err) <
			    0)
			return;
		if (yes.count != 1 || no.count != 1 || yes.alternatives[0].clause_count != 1)
			return;
		fuzz_check(needs_admit(&yes, version) != needs_admit(&no, version));
	}
}

static void check_cell(const char *cell, char *versions, struct arena *arena)
{
	struct error err = {0};
	struct needs needs;
	int rc = needs_parse(cell, arena, &needs, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0) {
		fuzz_check(err.kind == ERROR_USAGE);
		versions = NULL;
	} else {
		fuzz_check(needs.count <= count_of(cell, '|') + 1 && !*cell == !needs.count);
		fuzz_check(!*cell || strlen(matrix_cell_text(cell, arena)));
	}
	for (char *one; (one = strsep(&versions, "\n"));) {
		fuzz_check(needs_admit(&needs, one) == (!*cell || any_admits(cell, one, arena)));
		check_opposites(one, cell, arena);
		check_opposites(one, one, arena);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size), *cell = NULL;
	char *last = strrchr(text, '\n');

	if (last)
		*last++ = '\0';
	cell = fuzz_text((const uint8_t *)(last ? last : text), strlen(last ? last : text));
	matrix_cell_is_needs(cell);
	check_cell(cell, last ? text : NULL, &arena);
	return 0;
}
