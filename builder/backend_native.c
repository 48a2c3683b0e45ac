/* SPDX-License-Identifier: MIT */
/* No engine at all: see native.h. */
#include "builder/backend.h"

#include "builder/native.h"
#include "builder/runtime.h"
#include "core/file.h"
#include "oci/layout.h"

static bool available(const struct build_target *target, struct arena *arena, const char **why)
{
	return !target->has_steps || runtime_available(arena, why);
}

static int has_image(const struct build_target *target, const char *image, bool *found,
		     struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *layout = arena_printf(&arena, "%s/layout", target->store);
	struct descriptor manifest;
	struct error ignored = {0};

	(void)err;
	*found = file_exists(arena_printf(&arena, "%s/index.json", layout)) &&
		 layout_find(layout, image, &manifest, &ignored) == 0 &&
		 layout_has(layout, &manifest);
	return 0;
}

static int build(const struct build_job *job, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const struct native_options options = {
		.store = job->target->store,
		.name = job->image,
		.base_tar = job->base_tar,
		.log_path = job->log_path,
		.fetch = job->fetch,
		.fetch_arg = job->fetch_arg,
		.shell_on_failure = job->shell_on_failure,
	};
	struct descriptor manifest;
	const char *layout;

	return native_build(job->spec, &options, &arena, &layout, &manifest, err);
}

const struct backend backend_native = {
	.name = "native",
	.help = "overlay mounts and crun or runc; no daemon",
	.rank = 0,
	.available = available,
	.has_image = has_image,
	.build = build,
};
