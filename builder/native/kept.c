/* SPDX-License-Identifier: MIT */
#include "builder/native/kept.h"

#include "core/file.h"
#include "oci/layout.h"

const char *kept_layout(const struct build_target *target, struct arena *arena)
{
	return arena_printf(arena, "%s/layout", target->store);
}

bool kept_find(const struct build_target *target, const char *image, struct descriptor *manifest)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *layout = kept_layout(target, &arena);
	struct error ignored = {0};

	return file_exists(arena_printf(&arena, "%s/index.json", layout)) &&
	       layout_find(layout, image, manifest, &ignored) == 0 && layout_has(layout, manifest);
}
