/* SPDX-License-Identifier: MIT */
#include "builder/native/native.h"

#include "builder/native/native_base.h"
#include "builder/native/native_copy.h"
#include "builder/native/native_image.h"
#include "builder/native/native_run.h"
#include "builder/native/native_stage.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/str.h"
#include "oci/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int do_arg(struct native_stage *stage, const struct instruction *at)
{
	const char *const *words, *given;
	const char *equals, *name;

	if (native_words(stage, at->text, &words) < 0)
		return -1;
	for (; *words; words++) {
		equals = strchr(*words, '=');
		name = equals ? arena_strndup(&stage->arena, *words, (size_t)(equals - *words))
			      : *words;
		given = native_pair(stage->build->spec->build_args, name);
		if (given)
			words_addf(&stage->hidden, "%s=%s", name, given);
		else if (equals)
			words_add(&stage->arguments, *words);
		else if ((given = native_pair(stage->build->file.arguments, name)))
			words_addf(&stage->arguments, "%s=%s", name, given);
	}
	return 0;
}

/* NAME=VALUE ..., or the old form NAME VALUE. */
static int each_pair(struct native_stage *stage, const char *text,
		     void (*set)(cJSON *config, const char *name, const char *value))
{
	const char *const *words;

	if (native_words(stage, text, &words) < 0)
		return -1;
	if (words[0] && !strchr(words[0], '=')) {
		if (!words[1])
			return native_bad(stage, ERROR_USAGE, "is written NAME=VALUE");
		set(stage->config, words[0], words[1]);
		return 0;
	}
	for (; *words; words++) {
		const char *equals = strchr(*words, '=');

		if (!equals || equals == *words)
			return native_bad(stage, ERROR_USAGE, "is written NAME=VALUE");
		set(stage->config, arena_strndup(&stage->arena, *words, (size_t)(equals - *words)),
		    equals + 1);
	}
	return 0;
}

static int each_key(struct native_stage *stage, const struct instruction *at, const char *set)
{
	const char *const *words = at->exec;

	if (!words && native_words(stage, at->text, &words) < 0)
		return -1;
	for (; *words; words++)
		image_config_add_key(stage->config, set,
				     strcmp(set, "ExposedPorts") == 0 && !strchr(*words, '/')
					     ? arena_printf(&stage->arena, "%s/tcp", *words)
					     : *words);
	return 0;
}

static int native_set_text(struct native_stage *stage, const struct instruction *at,
			   const char *name)
{
	const char *word;

	if (native_word(stage, at->text, &word) < 0)
		return -1;
	image_config_set_text(stage->config, name, word);
	return 0;
}

/* CMD or ENTRYPOINT: the JSON form, or a line for the shell. */
static int set_command(struct native_stage *stage, const struct instruction *at, const char *name)
{
	const char *const *shell = image_config_list(stage->config, "Shell", &stage->arena);
	struct words words = WORDS_INIT(&stage->arena);

	words_add_all(&words, shell ? shell : WORDS("/bin/sh", "-c"));
	words_add(&words, at->text);
	image_config_set_list(stage->config, name, at->exec ? at->exec : words.list);
	if (at->kind == INSTRUCTION_CMD)
		stage->has_cmd = true;
	else if (!stage->has_cmd)
		image_config_drop(stage->config, "Cmd"); /* the base's belongs to its entrypoint */
	return 0;
}

static int set_config(struct native_stage *stage, const struct instruction *at)
{
	switch (at->kind) {
	case INSTRUCTION_ARG:
		return do_arg(stage, at);
	case INSTRUCTION_ENV:
		return each_pair(stage, at->text, image_config_set_env);
	case INSTRUCTION_LABEL:
		return each_pair(stage, at->text, image_config_set_label);
	case INSTRUCTION_EXPOSE:
		return each_key(stage, at, "ExposedPorts");
	case INSTRUCTION_VOLUME:
		return each_key(stage, at, "Volumes");
	case INSTRUCTION_STOPSIGNAL:
		return native_set_text(stage, at, "StopSignal");
	case INSTRUCTION_USER:
		return native_set_text(stage, at, "User");
	case INSTRUCTION_SHELL:
		image_config_set_list(stage->config, "Shell", at->exec);
		return 0;
	case INSTRUCTION_CMD:
		return set_command(stage, at, "Cmd");
	case INSTRUCTION_ENTRYPOINT:
		return set_command(stage, at, "Entrypoint");
	default:
		return 0;
	}
}

static int do_instruction(struct native_stage *stage, const struct instruction *at)
{
	stage->at = at;
	stage->step++;
	if (interrupt_check(&stage->err) < 0)
		return -1;
	if (stage->record_count == INSTRUCTIONS_MAX)
		return native_bad(stage, ERROR_FAILED, "the image's history is too long");
	switch (at->kind) {
	case INSTRUCTION_RUN:
		return native_run(stage, at);
	case INSTRUCTION_COPY:
		return native_copy(stage, at);
	case INSTRUCTION_WORKDIR:
		return native_workdir(stage, at);
	default:
		stage->records[stage->record_count++] = (struct native_record){
			arena_printf(&stage->arena, "%s %s", instruction_name(at->kind), at->text),
			NULL};
		return set_config(stage, at);
	}
}

static int do_stage(struct native_stage *stage)
{
	if (native_from(stage) < 0)
		return -1;
	for (size_t i = 0; i < stage->source->count; i++) {
		if (atomic_load(&stage->build->has_failed))
			return error_set(&stage->err, ERROR_INTERRUPTED,
					 "stopped: another part of the build failed");
		if (do_instruction(stage, &stage->source->list[i]) < 0)
			return -1;
	}
	return 0;
}

static void *run_stage(void *arg)
{
	struct native_stage *stage = arg;
	struct native_build *build = stage->build;

	if (do_stage(stage) < 0)
		native_stop(build);
	pthread_mutex_lock(&build->lock);
	stage->is_done = true;
	pthread_cond_broadcast(&build->changed);
	pthread_mutex_unlock(&build->lock);
	return NULL;
}

/* Marks the last stage, and those that it is made from. */
static void mark_needed(struct native_build *build, size_t index)
{
	struct native_stage *stage = build->stages[index];
	int base = dockerfile_stage(&build->file, stage->source->base, index);

	if (stage->is_needed)
		return;
	stage->is_needed = true;
	if (base >= 0)
		mark_needed(build, (size_t)base);
	for (size_t i = 0; i < stage->source->count; i++) {
		const struct instruction *at = &stage->source->list[i];
		int from = *at->from ? dockerfile_stage(&build->file, at->from, index) : -1;

		if (from >= 0)
			mark_needed(build, (size_t)from);
	}
}

/* Marks the last stage, and those that it begins with. */
static void mark_image(struct native_build *build)
{
	int index = (int)build->file.stage_count - 1;

	while (index >= 0) {
		struct native_stage *stage = build->stages[index];

		stage->is_in_image = true;
		index = dockerfile_stage(&build->file, stage->source->base, (size_t)index);
	}
}

static void make_stages(struct native_build *build, struct arena *arena)
{
	for (size_t i = 0; i < build->file.stage_count; i++) {
		struct native_stage *stage = ARENA_NEW(arena, struct native_stage);

		stage->build = build;
		stage->source = &build->file.stages[i];
		stage->index = i;
		stage->arguments = (struct words)WORDS_INIT(&stage->arena);
		stage->hidden = (struct words)WORDS_INIT(&stage->arena);
		build->stages[i] = stage;
	}
	mark_needed(build, build->file.stage_count - 1);
	mark_image(build);
}

static void run_stages(struct native_build *build)
{
	for (size_t i = 0; i < build->file.stage_count; i++) {
		struct native_stage *stage = build->stages[i];

		if (!stage->is_needed)
			continue;
		stage->is_started = pthread_create(&stage->thread, NULL, run_stage, stage) == 0;
		if (!stage->is_started)
			run_stage(stage);
	}
	for (size_t i = 0; i < build->file.stage_count; i++)
		if (build->stages[i]->is_started)
			pthread_join(build->stages[i]->thread, NULL);
}

/* The error that came first, not that of a stage which was stopped because of it. */
static int native_first_error(struct native_build *build, struct error *err)
{
	const struct error *found = build->packers.err.kind ? &build->packers.err : NULL;

	for (size_t i = 0; i < build->file.stage_count; i++) {
		const struct error *one = &build->stages[i]->err;

		if (one->kind && (!found || (found->kind == ERROR_INTERRUPTED &&
					     one->kind != ERROR_INTERRUPTED)))
			found = one;
	}
	if (!found)
		return 0;
	*err = *found;
	return -1;
}

static int build_in_store(struct native_build *build, struct arena *arena,
			  struct descriptor *manifest, struct error *err)
{
	struct native_stage *last = build->stages[build->file.stage_count - 1];

	native_pack_begin(build);
	run_stages(build);
	native_pack_end(build);
	if (native_first_error(build, err) < 0 || native_finish(last, arena, manifest, err) < 0)
		return -1;
	return layout_tag(build->store.layout, manifest, build->options->name, err);
}

static int open_build(struct native_build *build, struct arena *arena, struct error *err)
{
	if (dockerfile_parse("Dockerfile", build->spec->dockerfile, arena, &build->file, err) < 0 ||
	    store_open(&build->store, build->options->store, dockerfile_epoch(&build->file), arena,
		       err) < 0)
		return -1;
	store_limit(&build->store, build->options->limits);
	build->log = open(build->options->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (build->log < 0)
		return error_errno(err, "cannot write %s", build->options->log_path);
	make_stages(build, arena);
	return 0;
}

int native_build(const struct spec *spec, const struct native_options *options, struct arena *arena,
		 const char **layout, struct descriptor *manifest, struct error *err)
{
	struct native_build build = {.spec = spec, .options = options, .log = -1};
	int rc;

	build.store.lock = -1;
	pthread_mutex_init(&build.lock, NULL);
	pthread_cond_init(&build.changed, NULL);
	rc = open_build(&build, arena, err);
	if (rc == 0)
		rc = build_in_store(&build, arena, manifest, err);
	if (rc == 0)
		*layout = build.store.layout;
	for (size_t i = 0; i < build.file.stage_count; i++) {
		if (!build.stages[i])
			continue;
		cJSON_Delete(build.stages[i]->config);
		arena_release(&build.stages[i]->arena);
	}
	runtime_release(&build.runtime);
	store_release(&build.store);
	fd_close(&build.log);
	pthread_cond_destroy(&build.changed);
	pthread_mutex_destroy(&build.lock);
	return rc;
}
