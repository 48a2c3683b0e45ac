/* SPDX-License-Identifier: MIT */
/* Podman: no daemon; its images are kept by containers-storage. */
#include "builder/client.h"
#include "builder/runtime.h"

#include "core/proc.h"

static const struct client client = {.step = "STEP "};

static bool available(const struct build_target *target, struct arena *arena, const char **why)
{
	(void)target;
	if (!proc_exists("podman")) {
		*why = "the podman command is not installed (apt-get install podman)";
		return false;
	}
	return client_answers(&client, WORDS("podman", "version"), "podman does not work",
			      "see podman info", arena, why);
}

static int has_image(const struct build_target *target, const char *image, bool *found,
		     struct error *err)
{
	(void)target;
	return client_ask(&client, WORDS("podman", "image", "exists", image), found, err);
}

static int import_base(const struct build_target *target, const char *tar, const char *image,
		       struct error *err)
{
	(void)target;
	return client_check(&client, WORDS("podman", "import", "--quiet", tar, image), err);
}

static const char *const *build_words(const char *context, const char *image,
				      const char *const *build_args, struct arena *arena)
{
	/* theirs by default is crun, which some kernels' settings refuse */
	const char *runtime = runtime_name() ? runtime_name() : "runc";

	return client_build_words(WORDS("podman", "--runtime", runtime, "build", "--network",
					"host", "--format", "docker", "--layers"),
				  context, image, build_args, arena);
}

static int build(const struct build_job *job, struct error *err)
{
	return client_build_folder(&client, job, build_words, err);
}

static int save(const struct build_target *target, const char *image, int fd, struct error *err)
{
	(void)target;
	return client_write(&client, WORDS("podman", "save", "--format", "docker-archive", image),
			    fd, err);
}

const struct backend backend_podman = {
	.name = "podman",
	.help = "Podman 3 or newer",
	.rank = 3,
	.available = available,
	.has_image = has_image,
	.import_base = import_base,
	.build = build,
	.save = save,
	.build_words = build_words,
};
