/* SPDX-License-Identifier: MIT */
/* The native engine: see native.h. */
#include "builder/backend.h"

#include "builder/native/kept.h"
#include "builder/native/native.h"
#include "builder/native/runtime/runtime.h"

#include <string.h>
#include <unistd.h>

static bool native_available(const struct backend *backend, const struct build_target *target,
			     struct arena *arena, const char **why)
{
	(void)backend;
	if (target->on) {
		*why = "it works on this machine only";
		return false;
	}
	if (target->has_steps && geteuid() != 0 && strcmp(target->userns, "never") == 0) {
		*why = "it needs root, since build.userns is 'never'";
		return false;
	}
	return !target->has_steps || runtime_available(arena, why);
}

static int native_has_image(const struct backend *backend, const struct build_target *target,
			    const char *image, bool *found, struct error *err)
{
	struct descriptor manifest;

	(void)backend;
	(void)err;
	*found = kept_find(target, image, &manifest);
	return 0;
}

static int native_build_job(const struct backend *backend, const struct build_job *job,
			    struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const struct native_options options = {
		.store = job->target->store,
		.name = job->image,
		.base_tar = job->base_tar,
		.log_path = job->log_path,
		.fetch = job->fetch,
		.fetch_arg = job->fetch_arg,
		.limits = job->limits,
		.userns = job->target->userns,
		.shell_on_failure = job->shell_on_failure,
	};
	struct descriptor manifest;
	const char *layout;

	(void)backend;
	return native_build(job->spec, &options, &arena, &layout, &manifest, err);
}

const struct backend backend_native = {
	.name = "native",
	.help = "overlay mounts and crun or runc; no daemon",
	.rank = 0,
	.is_roots = true,
	.available = native_available,
	.has_image = native_has_image,
	.build = native_build_job,
};
