/* SPDX-License-Identifier: MIT */
/* Podman: no daemon; its images are kept by containers-storage. */
#include "builder/client.h"
#include "builder/runtime.h"

#include "core/proc.h"
#include "core/words.h"

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
	struct words words = WORDS_INIT(arena);

	words_add(&words, "podman");
	if (runtime_name())
		words_add_all(&words, WORDS("--runtime", runtime_name()));
	words_add_all(&words,
		      WORDS("build", "--network", "host", "--format", "docker", "--layers"));
	for (; build_args && *build_args; build_args++)
		words_add_all(&words, WORDS("--build-arg", *build_args));
	words_add_all(&words, WORDS("--tag", image, context));
	return words.list;
}

static int build(const struct build_job *job, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *folder;

	if (client_context_folder(job, &arena, &folder, err) < 0)
		return -1;
	return client_build(&client, job,
			    build_words(folder, job->image, job->spec->build_args, &arena), 0, err);
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
