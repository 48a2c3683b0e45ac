/* SPDX-License-Identifier: MIT */
/* What ranks print about their collectives. */
#include "tests/fuzz/fuzz.h"

#include "deployer/diagnosis/collectives.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct collectives *said = collectives_new(&arena);
	char *lines = text, *line;
	int rank = 0;

	while ((line = strsep(&lines, "\n")))
		collectives_feed(said, "node01", rank++ % 3, line);
	/* three ranks, and two numbers */
	fuzz_check(strlen(collectives_behind(said, &arena)) < 300);
	return 0;
}
