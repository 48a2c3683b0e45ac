/* SPDX-License-Identifier: MIT */
/* Open MPI's lists of releases. */
#include "tests/fuzz/fuzz.h"

#include "upstream/releases.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *text = fuzz_text(data, size);
	const char *const *series = NULL;
	struct release_list list;
	struct error err = {0};
	int rc = releases_read_index(text, size, "index", &arena, &series, &err);

	fuzz_check_error(rc, &err);
	for (; rc == 0 && *series; series++)
		fuzz_check(package_is_release(*series));
	err = (struct error){0};
	rc = releases_read_series(text, size, "series", &arena, &list, &err);
	fuzz_check_error(rc, &err);
	for (size_t i = 0; rc == 0 && i < list.count; i++) {
		const struct release *r = &list.releases[i];

		fuzz_check(package_is_release(r->version));
		fuzz_check(!*r->bz2 || web_url_is_fine(r->bz2));
		fuzz_check(!*r->gz || web_url_is_fine(r->gz));
		fuzz_check(strlen(r->month) == 7 || !*r->month);
	}
	return 0;
}
