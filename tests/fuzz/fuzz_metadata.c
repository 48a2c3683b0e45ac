/* SPDX-License-Identifier: MIT */
/* METADATA of a Python package, with the markers in it. */
#include "tests/fuzz/fuzz.h"

#include "upstream/python/marker.h"
#include "upstream/python/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct error err = {0};
	struct metadata m;
	int rc = metadata_parse(text, size, "METADATA", &arena, &m, &err);

	fuzz_check_error(rc, &err);
	marker_holds(text, "x");
	if (rc < 0)
		return 0;
	fuzz_check(package_is_release(m.version));
	for (size_t i = 0; i < m.count; i++) {
		const struct metadata_need *need = &m.needs[i];
		const char *pin = metadata_pin(need, &arena), *least = metadata_least(need, &arena);

		fuzz_check(!strpbrk(need->name, ",._ \033"));
		fuzz_check(!*pin || package_is_release(pin));
		fuzz_check(!*least || package_is_release(least));
		fuzz_check(strcmp(package_name(need->name, strlen(need->name), &arena),
				  need->name) == 0);
		metadata_need(&m, need->name, "x");
	}
	return 0;
}
