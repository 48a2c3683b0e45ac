/* SPDX-License-Identifier: MIT */
#include "builder/native/native_run.h"

#include "builder/build_failure.h"
#include "builder/native/native_image.h"
#include "builder/native/runtime/runtime.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/progress.h"
#include "core/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRIES_MAX 3
#define RETRY_PAUSE_S 5

struct watcher {
	struct native_stage *stage;
	struct progress_step *progress;
};

static void native_run_take_line(void *arg, const char *line)
{
	struct watcher *watcher = arg;

	log_debug("%s", line);
	/* a log that cannot be written does not end a build */
	if (dprintf(watcher->stage->build->log, "%s\n", line) < 0)
		return;
	if (*line)
		progress_note(watcher->progress, line);
}

/*
 * The words that are run, and the environment: the image's, then arguments that it does not hide.
 */
static void add_environment(struct native_stage *stage, const char *const *arguments,
			    struct words *env)
{
	for (; arguments && *arguments; arguments++) {
		const char *equals = strchr(*arguments, '=');
		const char *name =
			arena_strndup(&stage->arena, *arguments, (size_t)(equals - *arguments));

		if (!image_config_env(stage->config, name))
			words_add(env, *arguments);
	}
}

/* The build uses the person's proxies, which never become part of an image. */
static void add_proxies(struct words *env)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "no_proxy",
					    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			words_addf(env, "%s=%s", names[i], getenv(names[i]));
}

static const char *const *command(struct native_stage *stage, const struct instruction *at)
{
	const char *const *shell = image_config_list(stage->config, "Shell", &stage->arena);
	struct words words = WORDS_INIT(&stage->arena);

	if (at->exec)
		return at->exec;
	words_add_all(&words, shell ? shell : WORDS("/bin/sh", "-c"));
	words_add(&words, at->text);
	return words.list;
}

static const char *cwd(struct native_stage *stage)
{
	const char *folder = image_config_text(stage->config, "WorkingDir");

	return *folder ? folder : "/";
}

/* The first step finds out how steps run; the others wait for it. */
static int native_runtime_run(struct native_stage *stage, const struct run_step *step,
			      struct run_result *result)
{
	struct native_build *build = stage->build;
	int rc = 0;

	pthread_mutex_lock(&build->lock);
	if (!build->runtime.name)
		rc = runtime_find(&build->runtime, build->options->userns, build->store.folder,
				  &stage->arena, &stage->err);
	pthread_mutex_unlock(&build->lock);
	if (rc < 0)
		return -1;
	return runtime_run(&build->runtime, &build->store, step, &stage->arena, result,
			   &stage->err);
}

/* Starts a shell on top of what the failed step changed. */
static int shell_in_step(struct native_stage *stage, struct run_step step,
			 const struct run_result *failed)
{
	struct view *below = ARENA_NEW(&stage->arena, struct view);
	struct run_result result;

	if (!stage->build->options->shell_on_failure || !isatty(0) || !isatty(1))
		return 0;
	log_info("a shell in the failed step; what it does is not kept. Leave it with 'exit'");
	*below = *step.below;
	if (below->count < VIEW_LAYERS_MAX)
		below->list[below->count++] = (struct view_layer){.folder = failed->upper};
	step.below = below;
	step.words = WORDS("/bin/sh");
	step.interactive = true;
	return native_runtime_run(stage, &step, &result);
}

/* The comment in the recipe says more than the command's first words. */
static const char *what_it_does(struct native_stage *stage, const struct instruction *at)
{
	return *at->comment ? arena_printf(&stage->arena, "%.60s", at->comment)
			    : arena_printf(&stage->arena, "RUN %.56s", at->text);
}

static int run_failed(struct native_stage *stage, const struct run_step *step,
		      const struct run_result *result)
{
	const struct instruction *at = stage->at;
	char what[200];

	if (shell_in_step(stage, *step, result) < 0)
		return -1;
	snprintf(what, sizeof(what),
		 "the build failed at '%s' (line %d of its Dockerfile, status %d)",
		 what_it_does(stage, at), at->line, result->status);
	build_failure_set(what, result->output, &stage->err);
	return error_advise(&stage->err, "all of its output is in %s",
			    stage->build->options->log_path);
}

/* Runs it, again where a network failed. */
static int run_tries(struct native_stage *stage, const struct run_step *step,
		     struct watcher *watcher, struct run_result *result)
{
	for (int try = 1;; try++) {
		struct build_failure failure;

		if (native_runtime_run(stage, step, result) < 0)
			return -1;
		if (result->status == 0)
			return 0;
		failure = build_failure_find(result->output, &stage->arena);
		if (!failure.again || try == TRIES_MAX)
			return run_failed(stage, step, result);
		progress_state(watcher->progress, "%s; tried again in %d s", failure.reason,
			       RETRY_PAUSE_S);
		for (int i = 0; i < RETRY_PAUSE_S * 10; i++) {
			if (interrupt_check(&stage->err) < 0)
				return -1;
			usleep(100000);
		}
	}
}

static int run_step(struct native_stage *stage, const struct instruction *at, const char *key,
		    struct words *env)
{
	struct view *below = ARENA_NEW(&stage->arena, struct view);
	struct watcher watcher = {.stage = stage};
	struct run_step step = {.below = below,
				.words = command(stage, at),
				.cwd = cwd(stage),
				.user = image_config_text(stage->config, "User"),
				.line = native_run_take_line,
				.arg = &watcher,
				.stop = &stage->build->has_failed};
	struct run_result result = {0};
	uint64_t start = clock_usec();
	int rc;

	if (native_view(stage, stage, true, below) < 0)
		return -1;
	add_environment(stage, stage->hidden.list, env);
	add_proxies(env);
	step.env = env->list;
	watcher.progress = progress_begin(native_title(stage), what_it_does(stage, at));
	dprintf(stage->build->log, "== %s, line %d: RUN %s\n", native_title(stage), at->line,
		at->text);
	rc = run_tries(stage, &step, &watcher, &result);
	if (rc == 0)
		rc = store_add_tree(&stage->build->store, key, result.upper, &stage->err);
	if (rc == 0)
		progress_end(watcher.progress, true, "%s: %.1f s", what_it_does(stage, at),
			     clock_seconds_since(start));
	else
		progress_end(watcher.progress, false, "failed");
	return rc;
}

int native_run(struct native_stage *stage, const struct instruction *at)
{
	struct words env = WORDS_INIT(&stage->arena), key_words = WORDS_INIT(&stage->arena);
	char key[KEY_BYTES];

	words_add_all(&env, image_config_env_list(stage->config, &stage->arena));
	add_environment(stage, stage->arguments.list, &env);
	words_add_all(&key_words,
		      WORDS("run", cwd(stage), image_config_text(stage->config, "User")));
	words_add_all(&key_words, command(stage, at));
	words_add(&key_words, "");
	words_add_all(&key_words, env.list);
	/* a snapshot brings other packages than today's archive */
	if (*stage->build->spec->snapshot)
		words_add(&key_words, stage->build->spec->snapshot);
	native_step_key(stage, &key_words, key);
	if (!store_has(&stage->build->store, key) && run_step(stage, at, key, &env) < 0)
		return -1;
	return native_add_layer(stage, key, arena_printf(&stage->arena, "RUN %s", at->text));
}
