/* SPDX-License-Identifier: MIT */
/* index.json of a layout: what is found has a digest and a size. */
#include "tests/fuzz/fuzz.h"

#include "core/file.h"
#include "oci/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char folder[] = "/dev/shm/ringup-fuzz-XXXXXX", path[64];
	static bool is_made;
	struct descriptor found;
	struct error err = {0};
	int rc;

	if (!is_made) {
		fuzz_check(mkdtemp(folder) != NULL);
		fuzz_check(layout_init(folder, &err) == 0);
		snprintf(path, sizeof(path), "%s/index.json", folder);
		is_made = true;
	}
	fuzz_check(file_write(path, data, size, 0600, &err) == 0);
	rc = layout_find(folder, NULL, &found, &err);
	fuzz_check_error(rc, &err);
	if (rc == 0) {
		fuzz_check(digest_is_valid(found.digest));
		fuzz_check(layout_tag(folder, &found, "a", &err) == 0);
		fuzz_check(layout_find(folder, "a", &found, &err) == 0);
	}
	return 0;
}
