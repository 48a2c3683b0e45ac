/* SPDX-License-Identifier: MIT */
/* Buildah: no daemon; its images are kept by containers-storage, where Podman sees them too. */
#include "builder/client/client.h"
#include "builder/native/runtime/runtime.h"

static struct client buildah_client(const struct build_target *target)
{
	return (struct client){.on = target->on, .step = "STEP "};
}

static bool buildah_available(const struct build_target *target, struct arena *arena,
			      const char **why)
{
	struct client c = buildah_client(target);

	if (!client_exists(&c, "buildah")) {
		*why = "the buildah command is not installed (apt-get install buildah)";
		return false;
	}
	return client_answers(&c, WORDS("buildah", "version"), "buildah does not work",
			      "see buildah info", arena, why);
}

static int buildah_has_image(const struct build_target *target, const char *image, bool *found,
			     struct error *err)
{
	struct client c = buildah_client(target);

	return client_ask(&c, WORDS("buildah", "inspect", "--type", "image", image), found, err);
}

/* There is no import: an image of one ADD, which unpacks the tar. */
static int buildah_import_base(const struct build_target *target, const char *tar,
			       const char *image, struct error *err)
{
	static const char script[] =
		"folder=$(mktemp -d) || exit\n"
		"trap 'rm -rf \"$folder\"' EXIT\n"
		"cat >\"$folder/base.tar\" || exit\n"
		"printf 'FROM scratch\\nADD base.tar /\\n' >\"$folder/Dockerfile\"\n"
		"buildah bud --quiet --tag \"$1\" \"$folder\"\n";
	struct client c = buildah_client(target);

	return client_give(&c, WORDS("sh", "-c", script, "import", image), tar, err);
}

static const char *const *buildah_build_words(const char *context, const char *image,
					      const char *const *build_args, struct arena *arena)
{
	/* theirs by default is crun, which some kernels' settings refuse */
	const char *runtime = runtime_name() ? runtime_name() : "runc";

	return client_build_words(WORDS("buildah", "bud", "--runtime", runtime, "--network", "host",
					"--format", "docker", "--layers"),
				  context, image, build_args, arena);
}

/* Without the images of its steps, which nobody asked to keep there. */
static const char *const *buildah_build_words_there(const char *context, const char *image,
						    const char *const *build_args,
						    struct arena *arena)
{
	return client_build_words(WORDS("buildah", "bud", "--network", "host", "--format", "docker",
					"--layers=false", "--force-rm"),
				  context, image, build_args, arena);
}

static int buildah_build(const struct build_job *job, struct error *err)
{
	struct client c = buildah_client(job->target);

	return client_build(&c, job,
			    job->target->on ? buildah_build_words_there : buildah_build_words,
			    CONTEXT_FOLDER, err);
}

static int buildah_forget(const struct build_target *target, const char *image, const char *log,
			  struct error *err)
{
	struct client c = buildah_client(target);

	(void)log;
	return image ? client_clean(&c, WORDS("buildah", "rmi", image), err) : 0;
}

/* It opens its output once more, which only a pipe lets it. */
static int buildah_save(const struct build_target *target, const char *image, int fd,
			struct error *err)
{
	static const char script[] =
		"{ buildah push --quiet \"$1\" \"docker-archive:/dev/stdout:$1\" || kill $$; } | cat";
	struct client c = buildah_client(target);

	return client_write(&c, WORDS("sh", "-c", script, "save", image), fd, err);
}

const struct backend backend_buildah = {
	.name = "buildah",
	.help = "Buildah 1.19 or newer",
	.rank = 4,
	.available = buildah_available,
	.has_image = buildah_has_image,
	.import_base = buildah_import_base,
	.forget = buildah_forget,
	.build = buildah_build,
	.save = buildah_save,
	.build_words = buildah_build_words,
};
