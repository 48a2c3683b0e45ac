/* SPDX-License-Identifier: MIT */
/*
 * Docker Engine, through its command-line client with the classic builder: every engine since 17.05
 * has it, also where the buildx plug-in is missing.
 */
#include "builder/backend.h"

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

/* Adds text without the builder's colours ("ESC [ ... m"). */
static void add_plain(struct str *out, const char *text)
{
	for (; *text; text++) {
		if (*text != '\033')
			str_add_char(out, *text);
		else
			while (*text && *text != 'm')
				text++;
		if (!*text)
			return;
	}
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
	_cleanup_(str_release) struct str said = {0};
	const char *text = result->out.text, *step = "start", *output = text, *end;

	for (const char *p = text; (p = strstr(p, "Step ")); p++)
		if (p == text || p[-1] == '\n')
			step = output = p;
	end = strstr(output, "---> Running in ");
	if (end)
		output = strchr(end, '\n') ? strchr(end, '\n') + 1 : "";
	str_init(&said);
	add_plain(&said, tail(output, STEP_OUTPUT_BYTES));
	/* the step's stderr, without the builder's last line, which only repeats the step */
	end = strstr(result->err.text, "The command '");
	if (end)
		result->err.text[end - result->err.text] = '\0';
	add_plain(&said, tail(result->err.text, STEP_OUTPUT_BYTES));
	str_one_line(&said, 2 * STEP_OUTPUT_BYTES);
	error_set(err, ERROR_FAILED, "the build of %s failed at '%.*s': %s", image,
		  (int)strcspn(step, "\n") > STEP_NAME_BYTES ? STEP_NAME_BYTES
							     : (int)strcspn(step, "\n"),
		  step, said.text);
	if (strstr(said.text, "E: Unable to locate") || strstr(said.text, "E: Version"))
		return error_advise(
			err, "correct image.apt in cluster.yaml, or take a mirrors.apt that has "
			     "the version");
	if (strstr(said.text, "Failed to fetch") || strstr(said.text, "Could not connect"))
		return error_advise(err, "check mirrors.apt in cluster.yaml");
	return -1;
}

static int build(const struct build_target *target, const char *context_tar, const char *image,
		 const char *const *build_args, void (*line)(void *arg, const char *line),
		 void *arg, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	_cleanup_(proc_result_release) struct proc_result result = {0};
	_cleanup_(fd_close) int context = open(context_tar, O_RDONLY | O_CLOEXEC);
	struct proc proc = {
		.words = build_words("-", image, build_args, &arena),
		.input_fd = context,
		.timeout_s = BUILD_TIMEOUT_S,
		.line = line,
		.arg = arg,
	};

	if (context < 0)
		return error_errno(err, "cannot read %s", context_tar);
	if (run(target, proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : build_failed(&result, image, err);
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
