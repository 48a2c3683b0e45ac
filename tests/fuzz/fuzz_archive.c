/* SPDX-License-Identifier: MIT */
/* docker-archives: what is accepted is an image whose blobs are all in the layout. */
#include "tests/fuzz/fuzz.h"

#include "core/file.h"
#include "core/log.h"
#include "oci/archive/archive.h"
#include "oci/layout.h"

static void check_image(const char *folder, const struct descriptor *image, struct arena *arena)
{
	struct manifest manifest;
	struct error err = {0};
	const char *bytes;

	fuzz_check(layout_read(folder, image, MANIFEST_BYTES_MAX, arena, &bytes, &err) == 0);
	fuzz_check(manifest_parse(bytes, image->size_bytes, "m", arena, &manifest, &err) == 0);
	fuzz_check(layout_has(folder, &manifest.config));
	for (size_t i = 0; i < manifest.layer_count; i++)
		fuzz_check(layout_has(folder, &manifest.layers[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	char folder[] = "/dev/shm/ringup-fuzz-XXXXXX";
	struct error err = {0}, ignored;
	struct descriptor image;
	FILE *file;
	int rc;

	log_setup(LOG_QUIET, false);
	fuzz_check(mkdtemp(folder) != NULL);
	file = fopen(fuzz_file(data, size), "re");
	fuzz_check(file != NULL);
	rc = archive_import(fileno(file), folder, NULL, &arena, &image, &err);
	fuzz_check_error(rc, &err);
	if (rc == 0)
		check_image(folder, &image, &arena);
	fclose(file);
	folder_remove(folder, &ignored);
	return 0;
}
