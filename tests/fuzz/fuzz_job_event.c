/* SPDX-License-Identifier: MIT */
/* A line of a job's supervisor: it comes from a machine that we do not control. */
#include "tests/fuzz/fuzz.h"

#include "deployer/job/talk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(free_pointer) char *line = fuzz_text(data, size);
	struct job_event event;

	job_event_read(line, &event);
	fuzz_check(event.text && event.label);
	fuzz_check(strlen(event.text) <= size && strlen(event.label) <= size);
	if (event.kind == JOB_EVENT_OUTPUT || event.kind == JOB_EVENT_EXIT)
		fuzz_check(strlen(event.label) < JOB_LABEL_BYTES);
	if (event.kind == JOB_EVENT_EXIT)
		fuzz_check(event.number >= 0 && event.number < 256);
	if (event.kind == JOB_EVENT_JOIN)
		fuzz_check(event.rank >= 0);
	return 0;
}
