/* SPDX-License-Identifier: MIT */
/*
 * native_stage.h - one native build under way, and its stages: what every instruction works on.
 *
 * Each stage is built by a thread of its own; of another stage, a thread reads only what is final
 * once that one is done (native_wait).
 */
#ifndef BUILDER_NATIVE_NATIVE_STAGE_H
#define BUILDER_NATIVE_NATIVE_STAGE_H

#include "builder/native/image_config.h"
#include "builder/native/native.h"
#include "builder/native/runtime/runtime.h"
#include "core/words.h"

#include <pthread.h>

#define CHAIN_MAX VIEW_LAYERS_MAX
#define PACKERS_MAX 8

/* What an instruction did to the image: for the history. */
struct native_record {
	const char *created_by;
	const char *key; /* of its layer; NULL: none */
};

struct native_stage {
	struct native_build *build;
	const struct build_stage *source;
	size_t index;
	struct arena arena;
	struct error err;
	pthread_t thread;
	bool is_in_image; /* the last stage, or what it begins with */
	bool is_needed, is_started;
	bool has_base, is_done; /* under build->lock */

	/* The image so far */
	size_t chain_count;
	const char *chain[CHAIN_MAX]; /* keys of the layers, from the lowest up */
	size_t record_count;
	struct native_record records[INSTRUCTIONS_MAX];
	cJSON *config;
	char key[KEY_BYTES]; /* of all that was done so far */
	bool has_cmd;	     /* CMD stands in this stage */

	struct words arguments; /* NAME=VALUE of ARGs, the spec's build arguments not among them */
	struct words hidden;	/* the same of the spec's build arguments */
	const struct instruction *at;
	size_t step; /* the number of the instruction under way */
};

/* Threads that pack the image's layers (native_image.h). */
struct native_packers {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pthread_t threads[PACKERS_MAX];
	size_t thread_count, count, next; /* of keys: all, and the first that nobody took */
	char keys[CHAIN_MAX][KEY_BYTES];
	bool is_complete;
	struct error err; /* the first one */
};

struct native_build {
	const struct spec *spec;
	const struct native_options *options;
	struct store store;
	struct dockerfile file;
	struct native_stage *stages[STAGES_MAX];
	pthread_mutex_t lock;
	pthread_cond_t changed;
	atomic_bool has_failed;
	struct runtime runtime; /* found by the first step, under `lock`; its name is NULL before */
	struct native_packers packers;
	int log; /* a descriptor */
};

/* "Dockerfile:12: RUN ...: why" */
int native_bad(struct native_stage *stage, enum error_kind kind, const char *why);

/* "build 7/9": the step under way, for the progress. */
const char *native_title(struct native_stage *stage);

/* The value of NAME in a NULL-terminated list of NAME=VALUE, the last one; NULL: there is none. */
const char *native_pair(const char *const *list, const char *name);

/* The words of an instruction's text with variables put in. */
int native_words(struct native_stage *stage, const char *text, const char *const **words);

/* The one word of it; more are an error. */
int native_word(struct native_stage *stage, const char *text, const char **word);

/* Waits for the end of another stage; fails when that one fails. */
int native_wait(struct native_stage *stage, size_t other);

/*
 * The layers of `of` so far; errors and memory are `stage`'s. `on_disk`: all of them as folders,
 * for which blobs are unpacked where needed.
 */
int native_view(struct native_stage *stage, const struct native_stage *of, bool on_disk,
		struct view *view);

/* The key of the layer that these words make on top of what the stage has. */
void native_step_key(struct native_stage *stage, const struct words *words,
		     char key[static KEY_BYTES]);

/* Gives the build up: every stage ends before its next instruction. */
void native_stop(struct native_build *build);

#endif
