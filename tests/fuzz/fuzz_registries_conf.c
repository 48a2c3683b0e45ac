/* SPDX-License-Identifier: MIT */
/* registries.conf: what is taken has a prefix, and no more mirrors than there is
 * room for, each with a location. */
#include "tests/fuzz/fuzz.h"

#include "registry-client/places/registries_conf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct registry_entry *list = NULL;
	struct error err = {0};
	int rc = registries_conf_parse("f", text, &arena, &list, &err);

	fuzz_check_error(rc, &err);
	for (; rc == 0 && list; list = list->next) {
		fuzz_check(*list->prefix);
		fuzz_check(list->mirror_count <= MIRRORS_MAX);
		for (size_t i = 0; i < list->mirror_count; i++)
			fuzz_check(*list->mirrors[i].location);
	}
	return 0;
}
