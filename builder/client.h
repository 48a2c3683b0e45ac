/* SPDX-License-Identifier: MIT */
/*
 * client.h - what engines have in common that are driven through a command-line client:
 * backend_NAME.c says the words.
 */
#ifndef BUILDER_CLIENT_H
#define BUILDER_CLIENT_H

#include "builder/backend.h"

/* A client, and how it is asked. */
struct client {
	const char *const *env; /* NAME=VALUE for each run, or NULL */
	const char *step;	/* how its output begins a step: "Step ", "STEP " */
	const char *output; /* what ends the line before a step's own output; NULL: nothing does */
};

/* Runs words; a status other than 0 is an error with what was said. */
int client_check(const struct client *client, const char *const *words, struct error *err);

/* Whether they end with status 0. */
int client_ask(const struct client *client, const char *const *words, bool *yes, struct error *err);

/* Whether words like "NAME version" answer; else *why is "WHAT (what was said); ADVICE". */
bool client_answers(const struct client *client, const char *const *words, const char *what,
		    const char *advice, struct arena *arena, const char **why);

/* Writes the job's context as a tar, and opens it for a build's stdin; the caller closes it. */
int client_context_tar(const struct build_job *job, int *fd, struct error *err);

/* The words of a build: `first`, then the arguments, the name and the context. In the arena. */
const char *const *client_build_words(const char *const *first, const char *context,
				      const char *image, const char *const *build_args,
				      struct arena *arena);

/* Runs a build to its end; all lines go to the job's log. The error names the step that failed.
 * `input_fd`: 0 for none. */
int client_build(const struct client *client, const struct build_job *job, const char *const *words,
		 int input_fd, struct error *err);

/* The same for an engine that takes the context as a folder: writes it, and runs what `words` says.
 */
int client_build_folder(const struct client *client, const struct build_job *job,
			const char *const *(*words)(const char *context, const char *image,
						    const char *const *build_args,
						    struct arena *arena),
			struct error *err);

/* Runs words with their output in `fd`. */
int client_write(const struct client *client, const char *const *words, int fd, struct error *err);

#endif
