/* SPDX-License-Identifier: MIT */
/* The end, the list of files and METADATA of a wheel, as ranges of it come from a server. */
#include "tests/fuzz/fuzz.h"

#include "upstream/limits.h"
#include "upstream/python/wheel_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(free_pointer) char *bytes = fuzz_text(data, size);
	struct wheel_directory directory = {0};
	struct wheel_entry entry = {0};
	struct error err = {0};
	char *text = NULL;
	int rc = wheel_find_directory(bytes, size, size, "w", &directory, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	fuzz_check(directory.start <= size && directory.bytes <= size - directory.start);
	rc = wheel_find_metadata(bytes + directory.start, (size_t)directory.bytes, size, "w",
				 &entry, &err);
	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	fuzz_check(entry.start < size && entry.unpacked <= METADATA_BYTES_MAX);
	rc = wheel_unpack(&entry, bytes + entry.start, size - (size_t)entry.start, "w", &arena,
			  &text, &err);
	fuzz_check_error(rc, &err);
	if (rc == 0)
		fuzz_check(text[entry.unpacked] == '\0');
	return 0;
}
