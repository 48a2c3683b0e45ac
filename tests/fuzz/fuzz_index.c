/* SPDX-License-Identifier: MIT */
/* Indexes of a registry: entries are whole, and an image that is chosen is one of them. */
#include "tests/fuzz/fuzz.h"

#include "oci/index.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const struct index_entry *entry = NULL;
	struct error err = {0};
	struct index index;
	int rc = index_parse((const char *)data, size, "index", &arena, &index, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	fuzz_check(media_is_index(index.media_type));
	for (size_t i = 0; i < index.count; i++) {
		const struct index_entry *e = &index.entries[i];

		fuzz_check(digest_is_valid(e->descriptor.digest));
		fuzz_check(e->os && e->architecture && e->variant && e->artifact_type);
	}
	rc = index_choose(&index, NULL, "index", &entry, &err);
	fuzz_check_error(rc, &err);
	if (rc == 0)
		fuzz_check(entry >= index.entries && entry < index.entries + index.count);
	return 0;
}
