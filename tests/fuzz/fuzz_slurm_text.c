/* SPDX-License-Identifier: MIT */
/* What Slurm's commands print: jobs of others choose some of it. */
#include "tests/fuzz/fuzz.h"

#include "deployer/scheduler/scheduler.h"
#include "deployer/scheduler/slurm_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *host = NULL, *rest;
	int task = -1, status = -1;

	fuzz_check(strlen(slurm_field(text, "JobState", &arena)) <= size);
	fuzz_check(strlen(slurm_sentence(text, "Reason", &arena)) <= size);
	fuzz_check(slurm_gpus(text) >= 0);
	rest = slurm_labelled(text, &task);
	if (rest)
		fuzz_check(rest > text && rest <= text + strlen(text) && task >= 0 &&
			   task < SCHEDULER_RANKS_MAX);
	if (slurm_task_failed(text, &arena, &host, &task, &status))
		fuzz_check(strlen(host) <= size && task >= 0 && task < SCHEDULER_RANKS_MAX &&
			   status > 0 && status < 256);
	return 0;
}
