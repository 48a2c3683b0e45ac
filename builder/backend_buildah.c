/* SPDX-License-Identifier: MIT */
/* Buildah: no daemon; its images are kept by containers-storage, where Podman sees them too. */
#include "builder/client.h"
#include "builder/runtime.h"

#include "core/file.h"
#include "core/proc.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct client client = {.step = "STEP "};

static bool available(const struct build_target *target, struct arena *arena, const char **why)
{
	(void)target;
	if (!proc_exists("buildah")) {
		*why = "the buildah command is not installed (apt-get install buildah)";
		return false;
	}
	return client_answers(&client, WORDS("buildah", "version"), "buildah does not work",
			      "see buildah info", arena, why);
}

static int has_image(const struct build_target *target, const char *image, bool *found,
		     struct error *err)
{
	(void)target;
	return client_ask(&client, WORDS("buildah", "inspect", "--type", "image", image), found,
			  err);
}

/* There is no import: an image of one ADD, which unpacks the tar. */
static int import_base(const struct build_target *target, const char *tar, const char *image,
		       struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *folder = path_folder(&arena, tar), *name = strrchr(tar, '/') + 1;
	const char *file = arena_printf(&arena, "%s.Dockerfile", tar);
	const char *text = arena_printf(&arena, "FROM scratch\nADD %s /\n", name);
	const char *ignore = arena_printf(&arena, "%s.ignore", tar);
	const char *rule = arena_printf(&arena, "*\n!%s\n", name);
	int rc;

	(void)target;
	if (file_write(file, text, strlen(text), 0600, err) < 0 ||
	    file_write(ignore, rule, strlen(rule), 0600, err) < 0)
		return -1;
	rc = client_check(&client,
			  WORDS("buildah", "bud", "--quiet", "--ignorefile", ignore, "--file", file,
				"--tag", image, folder),
			  err);
	unlink(file);
	unlink(ignore);
	return rc;
}

static const char *const *build_words(const char *context, const char *image,
				      const char *const *build_args, struct arena *arena)
{
	/* theirs by default is crun, which some kernels' settings refuse */
	const char *runtime = runtime_name() ? runtime_name() : "runc";

	return client_build_words(WORDS("buildah", "bud", "--runtime", runtime, "--network", "host",
					"--format", "docker", "--layers"),
				  context, image, build_args, arena);
}

static int build(const struct build_job *job, struct error *err)
{
	return client_build_folder(&client, job, build_words, err);
}

static int save(const struct build_target *target, const char *image, int fd, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	(void)target;
	return client_check(&client,
			    WORDS("buildah", "push", "--quiet", image,
				  arena_printf(&arena, "docker-archive:/proc/%d/fd/%d:%s",
					       (int)getpid(), fd, image)),
			    err);
}

const struct backend backend_buildah = {
	.name = "buildah",
	.help = "Buildah 1.19 or newer",
	.rank = 4,
	.available = available,
	.has_image = has_image,
	.import_base = import_base,
	.build = build,
	.save = save,
	.build_words = build_words,
};
