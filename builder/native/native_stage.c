/* SPDX-License-Identifier: MIT */
#include "builder/native/native_stage.h"

#include "core/str.h"

#include <string.h>
#include <unistd.h>

#define TITLE_BYTES 12
#define SHOWN_BYTES 60 /* of an instruction in an error */

int native_bad(struct native_stage *stage, enum error_kind kind, const char *why)
{
	const struct instruction *at = stage->at;
	const char *dots = at && strlen(at->text) > SHOWN_BYTES ? "..." : "";

	if (!at)
		return error_set(&stage->err, kind, "%s:%d: FROM %s: %s", stage->build->file.path,
				 stage->source->line, stage->source->base, why);
	return error_set(&stage->err, kind, "%s:%d: %s %.*s%s: %s", stage->build->file.path,
			 at->line, instruction_name(at->kind), SHOWN_BYTES, at->text, dots, why);
}

const char *native_title(struct native_stage *stage)
{
	const char *name = *stage->source->name ? stage->source->name : "image";

	return arena_printf(&stage->arena, "%.*s %zu/%zu", TITLE_BYTES, name, stage->step,
			    stage->source->count);
}

const char *native_pair(const char *const *list, const char *name)
{
	size_t length = strlen(name);
	const char *value = NULL;

	for (; list && *list; list++)
		if (strncmp(*list, name, length) == 0 && (*list)[length] == '=')
			value = *list + length + 1;
	return value;
}

/* The environment goes before arguments, as in Docker. */
static const char *native_value_of(void *arg, const char *name)
{
	struct native_stage *stage = arg;
	const char *value = image_config_env(stage->config, name);

	if (!value)
		value = native_pair(stage->arguments.list, name);
	return value ? value : native_pair(stage->hidden.list, name);
}

int native_words(struct native_stage *stage, const char *text, const char *const **words)
{
	const char *why;

	if (dockerfile_words(text, native_value_of, stage, &stage->arena, words, &why) < 0)
		return native_bad(stage, ERROR_USAGE, why);
	return 0;
}

int native_word(struct native_stage *stage, const char *text, const char **word)
{
	const char *const *words;

	if (native_words(stage, text, &words) < 0)
		return -1;
	if (words[0] && words[1])
		return native_bad(stage, ERROR_USAGE, "takes one word");
	*word = words[0] ? words[0] : "";
	return 0;
}

int native_wait(struct native_stage *stage, size_t other)
{
	struct native_build *build = stage->build;
	struct native_stage *awaited = build->stages[other];
	bool is_fine;

	pthread_mutex_lock(&build->lock);
	while (!awaited->is_done && !atomic_load(&build->has_failed))
		pthread_cond_wait(&build->changed, &build->lock);
	is_fine = awaited->is_done && !awaited->err.kind;
	pthread_mutex_unlock(&build->lock);
	if (is_fine)
		return 0;
	return error_set(&stage->err, ERROR_INTERRUPTED,
			 "stopped: another part of the build failed");
}

int native_view(struct native_stage *stage, const struct native_stage *of, bool on_disk,
		struct view *view)
{
	struct store *store = &stage->build->store;

	view->count = 0;
	for (size_t i = 0; i < of->chain_count; i++) {
		struct view_layer *layer = &view->list[view->count++];

		*layer = (struct view_layer){NULL, NULL};
		if (on_disk || (geteuid() == 0 && store_has_tree(store, of->chain[i]))) {
			if (store_tree(store, of->chain[i], &stage->arena, &layer->folder,
				       &stage->err) < 0)
				return -1;
		} else if (store_list(store, of->chain[i], &stage->arena, &layer->tree,
				      &stage->err) < 0) {
			return -1;
		}
	}
	return 0;
}

void native_step_key(struct native_stage *stage, const struct words *words,
		     char key[static KEY_BYTES])
{
	struct words all = WORDS_INIT(&stage->arena);

	words_addf(&all, "%s", stage->key);
	words_addf(&all, "%lld", (long long)stage->build->store.newest_s);
	words_add_all(&all, words->list);
	store_key(all.list, key);
}

void native_stop(struct native_build *build)
{
	pthread_mutex_lock(&build->lock);
	atomic_store(&build->has_failed, true);
	pthread_cond_broadcast(&build->changed);
	pthread_mutex_unlock(&build->lock);
}
