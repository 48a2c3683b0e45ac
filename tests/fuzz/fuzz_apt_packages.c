/* SPDX-License-Identifier: MIT */
/* The list of packages of an apt repository, plain and as gzip. */
#include "tests/fuzz/fuzz.h"

#include "core/str.h"
#include "upstream/apt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	_cleanup_(str_release) struct str plain = STR_INIT;
	struct package_list list = {.arena = &arena};
	struct error err = {0};
	int rc = apt_read(text, size, "Packages", &list, &err);

	fuzz_check_error(rc, &err);
	for (size_t i = 0; i < list.count; i++) {
		fuzz_check(!strpbrk(list.packages[i].name, ", =;\033"));
		fuzz_check(!strpbrk(list.packages[i].version, ", =;\033"));
		fuzz_check(*list.packages[i].version);
	}
	err = (struct error){0};
	str_init_ceiling(&plain, 65536);
	fuzz_check_error(repository_gunzip(text, size, "Packages.gz", &plain, &err), &err);
	fuzz_check(plain.length <= 65536);
	return 0;
}
