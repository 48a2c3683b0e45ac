/* SPDX-License-Identifier: MIT */
/*
 * Docker Engine, through its command-line client with the classic builder. Every engine since 17.05
 * has it, even without the buildx plug-in.
 */
#include "builder/client/backend_docker.h"

#include "builder/client/client.h"
#include "core/file.h"
#include "core/words.h"

#include <string.h>

static struct client docker_client(const struct backend *backend, const struct build_target *target,
				   struct arena *arena)
{
	struct words env = WORDS_INIT(arena);

	words_add(&env, backend->words->env);
	if (*target->docker_host)
		words_addf(&env, "DOCKER_HOST=%s", target->docker_host);
	return (struct client){.on = target->on,
			       .env = env.list,
			       .step = backend->words->step,
			       .output = backend->words->output};
}

bool dockerd_answers(const struct backend *backend, const struct build_target *target,
		     struct arena *arena, const char **why)
{
	struct client c = docker_client(backend, target, arena);

	if (!client_exists(&c, "docker")) {
		*why = "the docker command is not installed (apt-get install docker.io)";
		return false;
	}
	return client_answers(
		&c, WORDS("docker", "version", "--format", "{{.Server.Version}}"),
		arena_printf(arena, "Docker Engine does not answer%s%s",
			     *target->docker_host ? " at " : "", target->docker_host),
		"start it (systemctl start docker) or set build.docker_host in cluster.yaml", arena,
		why);
}

int dockerd_has_image(const struct backend *backend, const struct build_target *target,
		      const char *image, bool *found, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = docker_client(backend, target, &arena);

	return client_ask(&c, WORDS("docker", "image", "inspect", "--format", "{{.Id}}", image),
			  found, err);
}

int dockerd_import(const struct backend *backend, const struct build_target *target,
		   const char *tar, const char *image, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = docker_client(backend, target, &arena);

	return client_give(&c, WORDS("docker", "import", "-", image), tar, err);
}

/*
 * Adds the images of the steps: the classic builder prints what each step made (" --->
 * 1f2e3d4c5b6a").
 */
static void add_left(const char *log, struct words *words)
{
	const char *previous = "";

	for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		bool cached = starts_with(previous, " ---> Using cache");

		previous = line;
		if (starts_with(line, " ---> ") && strspn(line + 6, "0123456789abcdef") == 12 &&
		    !cached)
			words_add(words, arena_strndup(words->arena, line + 6, 12));
	}
}

/*
 * A build that was interrupted may have made one image more than it printed: that one is based on the last one that it
 * printed, which is $1. The engine ends the step's container after its client is gone, and keeps what a container uses.
 */
static const char end_step[] =
	"for try in 1 2 3 4 5 6 7 8 9 10; do\n"
	"\t[ -n \"$(docker ps -aq --filter ancestor=\"$1\")\" ] || break\n"
	"\tsleep 1\n"
	"done\n"
	"next=$(docker image ls -aq --no-trunc | xargs -r docker image inspect --format '{{.Parent}} {{.Id}}' | "
	"sed -n \"s/^sha256:$1[0-9a-f]* //p\")\n"
	"[ -z \"$next\" ] || docker image rm $next";

int dockerd_forget(const struct backend *backend, const struct build_target *target,
		   const char *image, const char *log, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = docker_client(backend, target, &arena);
	struct words left = WORDS_INIT(&arena), words = WORDS_INIT(&arena);
	struct error ignored = {0};
	int rc = 0;

	if (image)
		rc = client_clean(&c, WORDS("docker", "image", "rm", image), err);
	add_left(log, &left);
	if (!image && left.count)
		client_clean(&c, WORDS("sh", "-c", end_step, "sh", left.list[left.count - 1]),
			     &ignored);
	words_add_all(&words, WORDS("docker", "image", "rm"));
	/*
	 * from the last one, because it is based on the others; errors for removed or used images
	 * are ignored
	 */
	for (size_t i = left.count; i > 0; i--)
		words_add(&words, left.list[i - 1]);
	if (left.count)
		client_clean(&c, words.list, &ignored);
	return rc;
}

const char *const *dockerd_build_words(const struct backend *backend, const char *context,
				       const char *image, const char *const *build_args,
				       struct arena *arena)
{
	(void)backend;
	return client_build_words(WORDS("docker", "build", "--network", "host", "--force-rm"),
				  context, image, build_args, arena);
}

int dockerd_build(const struct backend *backend, const struct build_job *job, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = docker_client(backend, job->target, &arena);

	return client_build(&c, backend, job, dockerd_build_words, CONTEXT_TAR, err);
}

int dockerd_save(const struct backend *backend, const struct build_target *target,
		 const char *image, int fd, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	struct client c = docker_client(backend, target, &arena);

	return client_write(&c, WORDS("docker", "image", "save", image), fd, err);
}

static const struct client_words docker_words = {
	.env = "DOCKER_BUILDKIT=0",
	.step = "Step ",
	.output = "---> Running in ",
};

const struct backend backend_docker = {
	.name = "docker",
	.help = "Docker Engine 17.05 or newer, its classic builder",
	.rank = 1,
	.words = &docker_words,
	.uses_docker_host = true,
	.available = dockerd_answers,
	.has_image = dockerd_has_image,
	.import_base = dockerd_import,
	.forget = dockerd_forget,
	.build = dockerd_build,
	.save = dockerd_save,
	.build_words = dockerd_build_words,
};
