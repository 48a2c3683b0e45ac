/* SPDX-License-Identifier: MIT */
#include "builder/native/kept.h"

#include "core/file.h"
#include "oci/layout.h"

const char *kept_layout(const struct build_target *target, struct arena *arena)
{
	return arena_printf(arena, "%s/layout", target->store);
}

/* Whether all blobs of the image are as they were written. */
static bool kept_is_whole(const char *layout, const struct descriptor *descriptor,
			  struct arena *arena)
{
	struct error ignored = {0};
	struct manifest manifest;
	const char *text;

	if (layout_read(layout, descriptor, MANIFEST_BYTES_MAX, arena, &text, &ignored) < 0 ||
	    manifest_parse(text, descriptor->size_bytes, layout, arena, &manifest, &ignored) < 0 ||
	    !layout_verify(layout, &manifest.config))
		return false;
	for (size_t i = 0; i < manifest.layer_count; i++)
		if (!layout_verify(layout, &manifest.layers[i]))
			return false;
	return true;
}

bool kept_find(const struct build_target *target, const char *image, struct descriptor *manifest)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *layout = kept_layout(target, &arena);
	struct error ignored = {0};

	return file_exists(arena_printf(&arena, "%s/index.json", layout)) &&
	       layout_find(layout, image, manifest, &ignored) == 0 &&
	       kept_is_whole(layout, manifest, &arena);
}
