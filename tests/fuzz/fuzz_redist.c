/* SPDX-License-Identifier: MIT */
/* NVIDIA's documents of cuDNN's archives. */
#include "tests/fuzz/fuzz.h"

#include "upstream/redist.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct redist_list list;
	struct error err = {0};
	int rc = redist_read(text, size, "document", &arena, &list, &err);

	fuzz_check_error(rc, &err);
	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		const struct redist_archive *a = &list.archives[i];

		fuzz_check(package_is_release(a->version));
		fuzz_check(strlen(a->sha256) == 64);
		fuzz_check(!strstr(a->path, "..") && !strpbrk(a->path, ",\" \n"));
		fuzz_check(*a->built && strlen(a->built) <= 2);
	}
	return 0;
}
