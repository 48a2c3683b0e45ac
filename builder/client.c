/* SPDX-License-Identifier: MIT */
#include "builder/client.h"

#include "builder/build_failure.h"
#include "builder/context.h"
#include "core/file.h"
#include "core/proc.h"
#include "core/words.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define BUILD_TIMEOUT_S 7200
#define PROBE_TIMEOUT_S 20
#define STEP_NAME_BYTES 60
#define STEP_OUTPUT_BYTES 800

int client_check(const struct client *client, const char *const *words, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = words, .env = client->env};

	if (proc_run(&proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : proc_failed(&proc, &result, err);
}

int client_ask(const struct client *client, const char *const *words, bool *yes, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = words, .env = client->env};

	if (proc_run(&proc, &result, err) < 0)
		return -1;
	*yes = result.status == 0;
	return 0;
}

bool client_answers(const struct client *client, const char *const *words, const char *what,
		    const char *advice, struct arena *arena, const char **why)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = words, .env = client->env, .timeout_s = PROBE_TIMEOUT_S};
	struct error err = {0};

	if (proc_run(&proc, &result, &err) == 0 && result.status == 0)
		return true;
	str_trim(&result.err);
	*why = arena_printf(arena, "%s (%s); %s", what, err.kind ? err.text : result.err.text,
			    advice);
	return false;
}

int client_context_tar(const struct build_job *job, int *fd, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *tar = arena_printf(&arena, "%s/context.tar", job->scratch);

	if (context_write_tar(job->spec, tar, err) < 0)
		return -1;
	*fd = open(tar, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? error_errno(err, "cannot read %s", tar) : 0;
}

/* Which step failed, and what it printed. */
static int build_failed(const struct client *client, const struct proc_result *result,
			const struct build_job *job, struct error *err)
{
	_cleanup_(str_release) struct str what = {0};
	const char *text = result->out.text, *step = "start", *output = text, *mark;
	size_t length;

	for (const char *p = text; (p = strstr(p, client->step)); p++)
		if (p == text || p[-1] == '\n' || (p > text + 1 && p[-1] == ' ' && p[-2] == ']'))
			step = output = p;
	mark = client->output ? strstr(output, client->output) : NULL;
	if (mark)
		output = strchr(mark, '\n') ? strchr(mark, '\n') + 1 : "";
	length = strcspn(step, "\n");
	str_init(&what);
	str_addf(&what, "the build of %s failed at '%.*s' (its output is in %s)", job->image,
		 (int)(length > STEP_NAME_BYTES ? STEP_NAME_BYTES : length), step, job->log_path);
	return build_failure_set(what.text, text_tail(output, STEP_OUTPUT_BYTES), err);
}

int client_build(const struct client *client, const struct build_job *job, const char *const *words,
		 int input_fd, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	struct proc proc = {.words = words,
			    .env = client->env,
			    .input_fd = input_fd,
			    .timeout_s = BUILD_TIMEOUT_S,
			    .joined = true,
			    .line = job->line,
			    .arg = job->arg};

	if (proc_run(&proc, &result, err) < 0)
		return -1;
	/* a log that cannot be written is not worth a build */
	file_write(job->log_path, result.out.text, result.out.length, 0600, &ignored);
	return result.status == 0 ? 0 : build_failed(client, &result, job, err);
}

int client_build_folder(const struct client *client, const struct build_job *job,
			const char *const *(*words)(const char *context, const char *image,
						    const char *const *build_args,
						    struct arena *arena),
			struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *folder = arena_printf(&arena, "%s/context", job->scratch);

	if (context_write_folder(job->spec, folder, err) < 0)
		return -1;
	return client_build(client, job, words(folder, job->image, job->spec->build_args, &arena),
			    0, err);
}

const char *const *client_build_words(const char *const *first, const char *context,
				      const char *image, const char *const *build_args,
				      struct arena *arena)
{
	struct words words = WORDS_INIT(arena);

	words_add_all(&words, first);
	for (; build_args && *build_args; build_args++)
		words_add_all(&words, WORDS("--build-arg", *build_args));
	words_add_all(&words, WORDS("--tag", image, context));
	return words.list;
}

int client_write(const struct client *client, const char *const *words, int fd, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = words, .env = client->env, .output_fd = fd};

	if (proc_run(&proc, &result, err) < 0)
		return -1;
	return result.status == 0 ? 0 : proc_failed(&proc, &result, err);
}
