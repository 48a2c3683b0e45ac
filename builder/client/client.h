/* SPDX-License-Identifier: MIT */
/*
 * client.h - what engines have in common that are driven through a command-line client, here or on
 * another machine: backend_NAME.c says the words.
 */
#ifndef BUILDER_CLIENT_CLIENT_H
#define BUILDER_CLIENT_CLIENT_H

#include "builder/backend.h"

/* A client, and how it is asked. */
struct client {
	const struct build_host *on; /* of the target; NULL: this machine */
	const char *const *env;	     /* NAME=VALUE for each run, or NULL */
	const char *step;	     /* how its output begins a step: "Step ", "STEP " */
	const char *output; /* what ends the line before a step's own output; NULL: nothing does */
};

/*
 * What differs between backends that are driven by a client of one kind; NULL where a kind does not
 * use it. An image's name follows each list but `answers`.
 */
struct client_words {
	const char *program;		/* of the same name as its Debian package */
	const char *env;		/* NAME=VALUE for each run */
	const char *step, *output;	/* as in struct client */
	const char *const *answers;	/* ends with 0 when it works */
	const char *const *has_image;	/* ends with 0 when it has it */
	const char *const *import_base; /* makes an image of the tar on its stdin */
	/* A build on this machine; the word "@runtime" stands for the OCI runtime that works here:
	 * crun, their default, is refused by some kernels' settings. */
	const char *const *build;
	/* One on another machine, without the images of its steps, which nobody asked to keep. */
	const char *const *build_there;
	const char *const *remove;
	const char *const *save; /* writes a docker-archive to stdout */
};

/* Runs words; a status other than 0 is an error with what was said. */
int client_check(const struct client *client, const char *const *words, struct error *err);

/* The same for what is to be removed: Ctrl-C does not stop it. */
int client_clean(const struct client *client, const char *const *words, struct error *err);

/* Whether they end with status 0. */
int client_ask(const struct client *client, const char *const *words, bool *yes, struct error *err);

/* Whether the program is on PATH there. */
bool client_exists(const struct client *client, const char *name);

/* client_check with the content of a file on stdin. */
int client_give(const struct client *client, const char *const *words, const char *path,
		struct error *err);

/* Whether words like "NAME version" answer; else *why is "WHAT (what was said); ADVICE". */
bool client_answers(const struct client *client, const char *const *words, const char *what,
		    const char *advice, struct arena *arena, const char **why);

/* The words of a build: `first`, then the arguments, the name and the context. In the arena. */
const char *const *client_build_words(const char *const *first, const char *context,
				      const char *image, const char *const *build_args,
				      struct arena *arena);

/* How an engine takes its context; elsewhere it is always a folder. */
enum client_context { CONTEXT_TAR, CONTEXT_FOLDER };

/*
 * Runs a build to its end; all lines go to the job's log. `words` is build_words of the backend:
 * its context is "-" for a tar on stdin, or a folder. The error names the step that failed.
 */
int client_build(const struct client *client, const struct backend *backend,
		 const struct build_job *job,
		 const char *const *(*words)(const struct backend *backend, const char *context,
					     const char *image, const char *const *build_args,
					     struct arena *arena),
		 enum client_context context, struct error *err);

/* Runs words with their output in `fd`. */
int client_write(const struct client *client, const char *const *words, int fd, struct error *err);

#endif
