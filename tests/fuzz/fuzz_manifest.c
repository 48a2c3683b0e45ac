/* SPDX-License-Identifier: MIT */
/* Image manifests of a registry: what is accepted is written as the same image. */
#include "tests/fuzz/fuzz.h"

#include "oci/manifest.h"

static bool same(const struct descriptor *a, const struct descriptor *b)
{
	return strcmp(a->media_type, b->media_type) == 0 && strcmp(a->digest, b->digest) == 0 &&
	       a->size_bytes == b->size_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct manifest manifest, again;
	struct error err = {0};
	const char *text;
	int rc = manifest_parse((const char *)data, size, "manifest", &arena, &manifest, &err);

	fuzz_check_error(rc, &err);
	if (rc < 0)
		return 0;
	text = manifest_write(&manifest, &arena);
	fuzz_check(manifest_parse(text, strlen(text), "written", &arena, &again, &err) == 0);
	fuzz_check(strcmp(again.media_type, manifest.media_type) == 0);
	fuzz_check(same(&again.config, &manifest.config));
	fuzz_check(again.layer_count == manifest.layer_count);
	for (size_t i = 0; i < manifest.layer_count; i++) {
		fuzz_check(digest_is_valid(manifest.layers[i].digest));
		fuzz_check(same(&again.layers[i], &manifest.layers[i]));
	}
	return 0;
}
