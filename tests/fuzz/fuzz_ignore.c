/* SPDX-License-Identifier: MIT */
/* Patterns of .ringupignore, and behind a NUL the path that they are asked about. */
#include "tests/fuzz/fuzz.h"

#include "deployer/job/sync/ignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	size_t length = strlen(text);
	const char *path = length < size ? text + length + 1 : "a/b";
	struct ignore ignore;

	ignore_init(&ignore, &arena);
	ignore_add(&ignore, text);
	ignore_has(&ignore, path, false);
	ignore_has(&ignore, path, true);
	fuzz_check(ignore_has(&ignore, ".ringup", true));
	fuzz_check(ignore_has(&ignore, arena_printf(&arena, "%s/.ringup", path), true));
	return 0;
}
