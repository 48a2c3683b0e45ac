/* SPDX-License-Identifier: MIT */
/* Podman: no daemon; its images are kept by containers-storage. */
#include "builder/client/client.h"
#include "builder/native/runtime/runtime.h"

static struct client podman_client(const struct build_target *target)
{
	return (struct client){.on = target->on, .step = "STEP "};
}

static bool podman_available(const struct build_target *target, struct arena *arena,
			     const char **why)
{
	struct client c = podman_client(target);

	if (!client_exists(&c, "podman")) {
		*why = "the podman command is not installed (apt-get install podman)";
		return false;
	}
	return client_answers(&c, WORDS("podman", "version"), "podman does not work",
			      "see podman info", arena, why);
}

static int podman_has_image(const struct build_target *target, const char *image, bool *found,
			    struct error *err)
{
	struct client c = podman_client(target);

	return client_ask(&c, WORDS("podman", "image", "exists", image), found, err);
}

static int podman_import_base(const struct build_target *target, const char *tar, const char *image,
			      struct error *err)
{
	struct client c = podman_client(target);

	return client_give(&c, WORDS("podman", "import", "--quiet", "-", image), tar, err);
}

static const char *const *podman_build_words(const char *context, const char *image,
					     const char *const *build_args, struct arena *arena)
{
	/* theirs by default is crun, which some kernels' settings refuse */
	const char *runtime = runtime_name() ? runtime_name() : "runc";

	return client_build_words(WORDS("podman", "--runtime", runtime, "build", "--network",
					"host", "--format", "docker", "--layers"),
				  context, image, build_args, arena);
}

/* Without the images of its steps, which nobody asked to keep there. */
static const char *const *podman_build_words_there(const char *context, const char *image,
						   const char *const *build_args,
						   struct arena *arena)
{
	return client_build_words(WORDS("podman", "build", "--network", "host", "--format",
					"docker", "--layers=false", "--force-rm"),
				  context, image, build_args, arena);
}

static int podman_build(const struct build_job *job, struct error *err)
{
	struct client c = podman_client(job->target);

	return client_build(&c, job,
			    job->target->on ? podman_build_words_there : podman_build_words,
			    CONTEXT_FOLDER, err);
}

static int podman_forget(const struct build_target *target, const char *image, const char *log,
			 struct error *err)
{
	struct client c = podman_client(target);

	(void)log;
	return image ? client_clean(&c, WORDS("podman", "image", "rm", image), err) : 0;
}

static int podman_save(const struct build_target *target, const char *image, int fd,
		       struct error *err)
{
	struct client c = podman_client(target);

	return client_write(&c, WORDS("podman", "save", "--format", "docker-archive", image), fd,
			    err);
}

const struct backend backend_podman = {
	.name = "podman",
	.help = "Podman 3 or newer",
	.rank = 3,
	.available = podman_available,
	.has_image = podman_has_image,
	.import_base = podman_import_base,
	.forget = podman_forget,
	.build = podman_build,
	.save = podman_save,
	.build_words = podman_build_words,
};
