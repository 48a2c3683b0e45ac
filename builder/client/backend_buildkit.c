/* SPDX-License-Identifier: MIT */
/* Docker Engine with BuildKit: in the engine since 18.09; clients from 23.0 on need the buildx
 * plug-in. */
#include "builder/client/backend_docker.h"
#include "builder/client/client.h"

#include "core/words.h"

/* Whether the client supports BuildKit: on its own up to 20.10, and with its plug-in after that. */
static bool buildkit_available(const struct backend *backend, const struct build_target *target,
			       struct arena *arena, const char **why)
{
	const struct client client = {.on = target->on};
	const char *reason;

	if (!dockerd_answers(backend, target, arena, why))
		return false;
	if (client_answers(&client, WORDS("docker", "buildx", "version"), "", "", arena, &reason) ||
	    client_answers(
		    &client,
		    WORDS("sh", "-c",
			  "v=$(docker --version) && v=${v#Docker version } && [ \"${v%%.*}\" -lt 23 ]"),
		    "", "", arena, &reason))
		return true;
	*why = "the docker command has no buildx plug-in (apt-get install docker-buildx)";
	return false;
}

static const struct client_words buildkit_words = {.env = "DOCKER_BUILDKIT=1", .step = "#"};

static const char *const *buildkit_build_words(const struct backend *backend, const char *context,
					       const char *image, const char *const *build_args,
					       struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, WORDS("env", "DOCKER_BUILDKIT=1"));
	words_add_all(&words, dockerd_build_words(backend, context, image, build_args, arena));
	return words.list;
}

const struct backend backend_buildkit = {
	.name = "buildkit",
	.help = "Docker Engine 18.09 or newer, with BuildKit",
	.rank = 2,
	.words = &buildkit_words,
	.uses_docker_host = true,
	.available = buildkit_available,
	.has_image = dockerd_has_image,
	.import_base = dockerd_import,
	.forget = dockerd_forget,
	.build = dockerd_build,
	.save = dockerd_save,
	.build_words = buildkit_build_words,
};
