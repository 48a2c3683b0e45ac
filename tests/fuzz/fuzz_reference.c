/* SPDX-License-Identifier: MIT */
/* Image references: what is accepted is written so that it is accepted again, as the same. */
#include "tests/fuzz/fuzz.h"

#include "plan/reference.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct reference ref, again;
	struct error err = {0};
	int rc = reference_parse(text, &arena, &ref, &err);

	reference_is_loopback(text);
	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	fuzz_check(!strpbrk(ref.registry, "/@ \n") && ref.registry[0]);
	fuzz_check(!strpbrk(ref.repository, ":@ \n") && ref.repository[0]);
	fuzz_check(!strstr(ref.repository, ".."));
	fuzz_check(reference_parse(reference_text(&ref, &arena), &arena, &again, &err) == 0);
	fuzz_check(strcmp(again.registry, ref.registry) == 0);
	fuzz_check(strcmp(again.repository, ref.repository) == 0);
	fuzz_check(strcmp(reference_target(&again), reference_target(&ref)) == 0);
	return 0;
}
