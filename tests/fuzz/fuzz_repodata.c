/* SPDX-License-Identifier: MIT */
/* repomd.xml and primary.xml of an rpm repository. */
#include "tests/fuzz/fuzz.h"

#include "core/str.h"
#include "upstream/rpm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	struct package_list list = {.arena = &arena};
	const char *href = NULL;
	struct error err = {0};
	int rc = rpm_read_repomd(text, size, "repomd.xml", &arena, &href, &err);

	fuzz_check_error(rc, &err);
	if (rc == 0)
		fuzz_check(starts_with(href, "repodata/") && !strstr(href, ".."));
	err = (struct error){0};
	fuzz_check_error(rpm_read_primary(text, size, "primary.xml", &list, &err), &err);
	for (size_t i = 0; i < list.count; i++) {
		fuzz_check(!strpbrk(list.packages[i].name, ", =;\033"));
		fuzz_check(strchr(list.packages[i].version, '-') != NULL);
	}
	return 0;
}
