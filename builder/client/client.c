/* SPDX-License-Identifier: MIT */
#include "builder/client/client.h"

#include "builder/build_failure.h"
#include "builder/context.h"
#include "core/file.h"
#include "core/proc.h"
#include "core/quote.h"
#include "core/words.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define BUILD_TIMEOUT_S 7200
#define PROBE_TIMEOUT_S 20
#define SCRIPT_CEILING_BYTES (32 * KIB) /* the whole command goes in one SSH packet */
#define STEP_NAME_BYTES 60
#define STEP_OUTPUT_BYTES 800

/* The command line for the other machine's shell: "sudo -n env A=B docker version". */
static const char *remote_line(const struct client *client, const char *const *words,
			       struct arena *arena)
{
	_cleanup_(str_release) struct str line = STR_INIT;
	struct words all = WORDS_INIT(arena);

	if (client->on->sudo)
		words_add_all(&all, WORDS("sudo", "-n"));
	if (client->env) {
		words_add(&all, "env");
		words_add_all(&all, client->env);
	}
	words_add_all(&all, words);
	quote_words(&line, all.list);
	return arena_strdup(arena, line.text);
}

/* proc_run on this machine or the other one. */
static int client_run(const struct client *client, struct proc *proc, struct proc_result *result,
		      struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *const *words = proc->words;
	struct words all = WORDS_INIT(&arena);
	int rc;

	if (!client->on) {
		proc->env = client->env;
		return proc_run(proc, result, err);
	}
	words_add_all(&all, client->on->reach);
	words_add(&all, remote_line(client, words, &arena));
	proc->words = all.list;
	rc = proc_run(proc, result, err);
	proc->words = words;
	return rc < 0 ? error_wrap(err, "%s", client->on->name) : 0;
}

/* Runs it, and fails unless its status is 0. */
static int client_must(const struct client *client, struct proc *proc, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	if (client_run(client, proc, &result, err) < 0)
		return -1;
	if (result.status == 0)
		return 0;
	proc_failed(proc, &result, err);
	return client->on ? error_wrap(err, "%s", client->on->name) : -1;
}

int client_check(const struct client *client, const char *const *words, struct error *err)
{
	return client_must(client, &(struct proc){.words = words}, err);
}

int client_clean(const struct client *client, const char *const *words, struct error *err)
{
	return client_must(client, &(struct proc){.words = words, .even_when_interrupted = true},
			   err);
}

int client_give(const struct client *client, const char *const *words, const char *path,
		struct error *err)
{
	_cleanup_(fd_close) int fd = -1;

	if (file_open(path, &fd, err) < 0)
		return -1;
	return client_must(client, &(struct proc){.words = words, .input_fd = fd}, err);
}

int client_ask(const struct client *client, const char *const *words, bool *yes, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};

	if (client_run(client, &(struct proc){.words = words}, &result, err) < 0)
		return -1;
	*yes = result.status == 0;
	return 0;
}

bool client_exists(const struct client *client, const char *name)
{
	struct error ignored = {0};
	bool yes = false;

	if (!client->on)
		return proc_exists(name);
	return client_ask(client, WORDS("sh", "-c", "command -v \"$1\"", "sh", name), &yes,
			  &ignored) == 0 &&
	       yes;
}

bool client_answers(const struct client *client, const char *const *words, const char *what,
		    const char *advice, struct arena *arena, const char **why)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct proc proc = {.words = words, .timeout_s = PROBE_TIMEOUT_S};
	struct error err = {0};

	if (client_run(client, &proc, &result, &err) == 0 && result.status == 0)
		return true;
	str_trim(&result.err);
	*why = arena_printf(arena, "%s (%s); %s", what, err.kind ? err.text : result.err.text,
			    advice);
	return false;
}

/* Sets the error: which step failed, and what it printed. */
static int build_failed(const struct client *client, const struct proc_result *result,
			const struct build_job *job, struct error *err)
{
	_cleanup_(str_release) struct str what = STR_INIT;
	const char *text = result->out.text, *step = "start", *output = text, *mark;
	size_t length;

	for (const char *p = text; (p = strstr(p, client->step)); p++)
		if (p == text || p[-1] == '\n' || (p > text + 1 && p[-1] == ' ' && p[-2] == ']'))
			step = output = p;
	mark = client->output ? strstr(output, client->output) : NULL;
	if (mark)
		output = strchr(mark, '\n') ? strchr(mark, '\n') + 1 : "";
	length = strcspn(step, "\n");
	str_addf(&what, "the build of %s failed at '%.*s' (its output is in %s)", job->image,
		 (int)(length > STEP_NAME_BYTES ? STEP_NAME_BYTES : length), step, job->log_path);
	return build_failure_set(what.text, text_tail(output, STEP_OUTPUT_BYTES), err);
}

/* Writes the job's context as a tar, and opens it; the caller closes it. */
static int context_tar(const struct build_job *job, int *fd, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *tar = arena_printf(&arena, "%s/context.tar", job->scratch);

	if (context_write_tar(job->spec, tar, err) < 0)
		return -1;
	*fd = open(tar, O_RDONLY | O_CLOEXEC);
	return *fd < 0 ? error_errno(err, "cannot read %s", tar) : 0;
}

/* Runs the build to its end, and writes the log also after a failure. */
static int client_run_build(const struct client *client, const struct build_job *job,
			    struct proc *proc, struct error *err)
{
	_cleanup_(proc_result_release) struct proc_result result = {0};
	struct error ignored = {0};
	int rc;

	proc->timeout_s = BUILD_TIMEOUT_S;
	proc->joined = true;
	proc->line = job->line;
	proc->arg = job->arg;
	rc = client_run(client, proc, &result, err);
	/* a log that cannot be written does not fail the build */
	file_write(job->log_path, result.out.text, result.out.length, 0600, &ignored);
	if (rc < 0)
		return -1;
	return result.status == 0 ? 0 : build_failed(client, &result, job, err);
}

/* The context goes to the other machine with the command, which removes it at its end. */
static int client_build_there(const struct client *client, const struct build_job *job,
			      const char *const *words, struct arena *arena, struct error *err)
{
	_cleanup_(fd_close) int fd = -1;
	struct words all = WORDS_INIT(arena);
	struct proc proc = {.holds_input = true};
	const char *path;
	char *script;
	struct stat st;
	void *tar;
	int rc;

	if (context_tar(job, &fd, err) < 0 ||
	    share_path(arena, "builder/remote/build.sh", &path, err) < 0 ||
	    file_read(path, SCRIPT_CEILING_BYTES, arena, &script, NULL, err) < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return error_errno(err, "cannot read the build's context");
	tar = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (tar == MAP_FAILED)
		return error_errno(err, "cannot read the build's context");
	words_add_all(&all, WORDS("sh", "-c", script, "build"));
	words_addf(&all, "%llu", (unsigned long long)st.st_size);
	words_add_all(&all, words);
	proc.words = all.list;
	proc.input = tar;
	proc.input_bytes = (size_t)st.st_size;
	rc = client_run_build(client, job, &proc, err);
	munmap(tar, (size_t)st.st_size);
	return rc;
}

int client_build(const struct client *client, const struct backend *backend,
		 const struct build_job *job,
		 const char *const *(*words)(const struct backend *backend, const char *context,
					     const char *image, const char *const *build_args,
					     struct arena *arena),
		 enum client_context context, struct error *err)
{
	_cleanup_(arena_release) struct arena arena = ARENA_INIT;
	const char *const *build_args = job->spec->build_args;
	const char *folder = arena_printf(&arena, "%s/context", job->scratch);
	_cleanup_(fd_close) int tar = -1;
	struct proc proc = {0};

	if (client->on)
		return client_build_there(client, job,
					  words(backend, ".", job->image, build_args, &arena),
					  &arena, err);
	if (context == CONTEXT_TAR ? context_tar(job, &tar, err)
				   : context_write_folder(job->spec, folder, err))
		return -1;
	proc.input_fd = tar;
	proc.words = words(backend, tar < 0 ? folder : "-", job->image, build_args, &arena);
	return client_run_build(client, job, &proc, err);
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
	return client_must(client, &(struct proc){.words = words, .output_fd = fd}, err);
}
