/* SPDX-License-Identifier: MIT */
/* Docker Engine with BuildKit: in the engine since 18.09; clients from 23.0 on need the buildx
 * plug-in. */
#include "builder/backend_docker.h"

#include "core/words.h"

static int build(const struct build_job *job, struct error *err)
{
	return docker_build(job, true, err);
}

static const char *const *build_words(const char *context, const char *image,
				      const char *const *build_args, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, WORDS("env", "DOCKER_BUILDKIT=1"));
	words_add_all(&words, docker_build_words(context, image, build_args, arena));
	return words.list;
}

const struct backend backend_buildkit = {
	.name = "buildkit",
	.help = "Docker Engine 18.09 or newer, with BuildKit",
	.available = docker_answers,
	.has_image = docker_has_image,
	.import_base = docker_import,
	.build = build,
	.save = docker_save,
	.build_words = build_words,
};
