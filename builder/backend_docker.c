/* SPDX-License-Identifier: MIT */
/*
 * Docker Engine, through its command-line client with the classic builder: every engine since 17.05
 * has it, also where the buildx plug-in is missing.
 */
#include "builder/backend.h"

#include "builder/build_failure.h"
#include "builder/context.h"
#include "core/file.h"
#include "core/proc.h"
#include "core/str.h"
#include "core/words.h"

#include <fcntl.h>
#include <string.h>

#define BUILD_TIMEOUT_S 7200
#define PROBE_TIMEOUT_S 20
#define STEP_NAME_BYTES 60
#define STEP_OUTPUT_BYTES 500

static const char *const *docker_env(const struct build_target *target, struct arena *arena)
{
	struct words env = WORDS_INIT(arena);

	words_add(&env, "DOCKER_BUILDKIT=0");
	if (*target->docker_host)
		words_addf(&env, "DOCKER_HOST=%s", target->docker_host);
	return env.list;
}

static int run(const struct build_target *target, struct proc proc, struct proc_result *result,
	       struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;

	proc.env = docker_env(target, &arena);
	return proc_run(&proc, result, err);
}

static bool available(const struct build_target *target, struct arena *arena, const char **why)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {
		.words = WORDS("docker", "version", "--format", "{{.Server.Version}}"),
		.timeout_s = PROBE_TIMEOUT_S,
	};
	struct error err = {0};

	if (!proc_exists("docker")) {
		*why = "the docker command is not installed (apt-get install docker.io)";
		return false;
	}
	if (run(target, proc, &result, &err) < 0 || result.status != 0) {
		str_trim(&result.err);
		*why = arena_printf(
			arena,
			"Docker Engine does not answer%s%s (%s); start it (systemctl start "
			"docker) or set build.docker_host in cluster.yaml",
			*target->docker_host ? " at " : "", target->docker_host,
			err.kind ? err.text : result.err.text);
		return false;
	}
	return true;
}

static int has_image(const struct build_target *target, const char *image, bool *found,
		     struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {
		.words = WORDS("docker", "image", "inspect", "--format", "{{.Id}}", image)};

	if (run(target, proc, &result, err) < 0)
		return -1;
	*found = result.status == 0;
	return 0;
}

static int import_base(const struct build_target *target, const char *tar, const char *image,
		       struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS("docker", "import", tar, image)};

	if (run(target, proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : proc_failed(&proc, &result, err);
}

static const char *const *build_words(const char *context, const char *image,
				      const char *const *build_args, struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, WORDS("docker", "build", "--network", "host", "--force-rm"));
	for (; *build_args; build_args++)
		words_add_all(&words, WORDS("--build-arg", *build_args));
	words_add_all(&words, WORDS("--tag", image, context));
	return words.list;
}

/* Cuts everything before the last `bytes` off, at a line's start where there is one. */
static const char *tail(const char *text, size_t bytes)
{
	size_t length = strlen(text);
	const char *start = length > bytes ? text + length - bytes : text, *line;

	if (start == text)
		return text;
	line = strchr(start, '\n');
	return line && line[1] ? line + 1 : start;
}

/* Which step failed, and what it printed: its own output is behind its "Running in" line. */
static int build_failed(const struct proc_result *result, const char *image, struct error *err)
{
	_cleanup_(str_release) struct str said = {0}, what = {0};
	const char *text = result->out.text, *step = "start", *output = text, *end;

	for (const char *p = text; (p = strstr(p, "Step ")); p++)
		if (p == text || p[-1] == '\n')
			step = output = p;
	end = strstr(output, "---> Running in ");
	if (end)
		output = strchr(end, '\n') ? strchr(end, '\n') + 1 : "";
	str_init(&said);
	str_add(&said, tail(output, STEP_OUTPUT_BYTES));
	/* the step's stderr, without the builder's last line, which only repeats the step */
	end = strstr(result->err.text, "The command '");
	if (end)
		result->err.text[end - result->err.text] = '\0';
	str_add(&said, tail(result->err.text, STEP_OUTPUT_BYTES));
	str_init(&what);
	str_addf(&what, "the build of %s failed at '%.*s'", image,
		 (int)strcspn(step, "\n") > STEP_NAME_BYTES ? STEP_NAME_BYTES
							    : (int)strcspn(step, "\n"),
		 step);
	return build_failure_set(what.text, said.text, err);
}

static int build(const struct build_job *job, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(fd_close) int context = -1;
	const char *tar = arena_printf(&arena, "%s/context.tar", job->scratch);
	struct proc proc = {
		.words = build_words("-", job->image, job->spec->build_args, &arena),
		.timeout_s = BUILD_TIMEOUT_S,
		.line = job->line,
		.arg = job->arg,
	};

	if (context_write_tar(job->spec, tar, err) < 0)
		return -1;
	context = open(tar, O_RDONLY | O_CLOEXEC);
	if (context < 0)
		return error_errno(err, "cannot read %s", tar);
	proc.input_fd = context;
	if (run(job->target, proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : build_failed(&result, job->image, err);
}

static int save(const struct build_target *target, const char *image, int fd, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = WORDS("docker", "image", "save", image), .output_fd = fd};

	if (run(target, proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : proc_failed(&proc, &result, err);
}

const struct backend backend_docker = {
	.name = "docker",
	.help = "Docker Engine 17.05 or newer",
	.available = available,
	.has_image = has_image,
	.import_base = import_base,
	.build = build,
	.save = save,
	.build_words = build_words,
};
