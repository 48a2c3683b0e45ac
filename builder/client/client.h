/* SPDX-License-Identifier: MIT */
/*
 * client.h - the common part of engines with a command-line client, on this machine or another one.
 * backend_NAME.c has the words.
 */
#ifndef BUILDER_CLIENT_CLIENT_H
#define BUILDER_CLIENT_CLIENT_H

#include "builder/backend.h"

/* A client and how to call it. */
struct client {
	const struct build_host *on; /* of the target; NULL: this machine */
	const char *const *env;	     /* NAME=VALUE for each run, or NULL */
	/* the beginning of a step's line in its output: "Step ", "STEP " */
	const char *step;
	const char *output; /* the end of the line before a step's own output; NULL: none */
};

/*
 * The words that differ between backends with the same kind of client; NULL where a kind does not
 * use them. An image's name follows each list except `answers`.
 */
struct client_words {
	const char *program;		/* also the name of its Debian package */
	const char *env;		/* NAME=VALUE for each run */
	const char *step, *output;	/* as in struct client */
	const char *const *answers;	/* status 0 when it works */
	const char *const *has_image;	/* status 0 when it has the image */
	const char *const *import_base; /* makes an image of the tar on its stdin */
	/*
	 * A build on this machine. The word "@runtime" stands for the OCI runtime that works here,
	 * because crun, the default, does not work with some kernel settings.
	 */
	const char *const *build;
	/* A build on another machine, which does not keep the images of its steps. */
	const char *const *build_there;
	const char *const *remove;
	const char *const *save; /* writes a docker-archive to stdout */
};

/* Runs words. A status other than 0 is an error with the output. */
int client_check(const struct client *client, const char *const *words, struct error *err);

/* The same for cleaning up: Ctrl-C does not stop it. */
int client_clean(const struct client *client, const char *const *words, struct error *err);

/* Whether the words end with status 0. */
int client_ask(const struct client *client, const char *const *words, bool *yes, struct error *err);

/* Whether the program is on PATH there. */
bool client_exists(const struct client *client, const char *name);

/* client_check with the content of a file on stdin. */
int client_give(const struct client *client, const char *const *words, const char *path,
		struct error *err);

/* Whether words like "NAME version" succeed. If not, *why is "WHAT (output); ADVICE". */
bool client_answers(const struct client *client, const char *const *words, const char *what,
		    const char *advice, struct arena *arena, const char **why);

/* The words of a build: `first`, then the arguments, the name and the context. In the arena. */
const char *const *client_build_words(const char *const *first, const char *context,
				      const char *image, const char *const *build_args,
				      struct arena *arena);

/* How an engine takes its context on this machine. On another machine it is always a folder. */
enum client_context { CONTEXT_TAR, CONTEXT_FOLDER };

/*
 * Runs a build to its end. All lines go to the job's log. `words` is the backend's build_words; its
 * context is "-" for a tar on stdin, or a folder. The error names the failed step.
 */
int client_build(const struct client *client, const struct backend *backend,
		 const struct build_job *job,
		 const char *const *(*words)(const struct backend *backend, const char *context,
					     const char *image, const char *const *build_args,
					     struct arena *arena),
		 enum client_context context, struct error *err);

/* Runs words and writes their output to `fd`. */
int client_write(const struct client *client, const char *const *words, int fd, struct error *err);

#endif
