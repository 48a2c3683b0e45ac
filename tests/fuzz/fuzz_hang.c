/* SPDX-License-Identifier: MIT */
/* What a host says of the processes of a job that hangs. */
#include "tests/fuzz/fuzz.h"

#include "core/foreign.h"
#include "deployer/job/hang.h"

#define WORLD 3

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct job_hang *hang = job_hang_new(WORLD, &arena);
	char *lines = text, *line;
	int rank = 0;

	while ((line = strsep(&lines, "\n")))
		job_hang_hear(hang, rank++ % WORLD, foreign_clean_line(line));
	/* two frames or a line of the kernel for each rank */
	fuzz_check(strlen(job_hang_places(hang, &arena)) < WORLD * 400);
	return 0;
}
