/* SPDX-License-Identifier: MIT */
/*
 * dockerfile.h - a Dockerfile as stages and instructions.
 *
 * What the recipes write, and what people write in the same style: FROM [AS], ARG, ENV, RUN, COPY,
 * WORKDIR, USER, LABEL, CMD, ENTRYPOINT, SHELL, EXPOSE, VOLUME, STOPSIGNAL. Refused, each with a
 * reason: ADD, ONBUILD, HEALTHCHECK, MAINTAINER, here-documents, RUN --mount, an escape
 * directive. Source: the Dockerfile reference of Docker (docs.docker.com/reference/dockerfile).
 */
#ifndef BUILDER_NATIVE_DOCKERFILE_H
#define BUILDER_NATIVE_DOCKERFILE_H

#include "core/arena.h"
#include "core/error.h"

#define STAGES_MAX 32
#define INSTRUCTIONS_MAX 512 /* of one stage */

enum instruction_kind {
	INSTRUCTION_ARG,
	INSTRUCTION_CMD,
	INSTRUCTION_COPY,
	INSTRUCTION_ENTRYPOINT,
	INSTRUCTION_ENV,
	INSTRUCTION_EXPOSE,
	INSTRUCTION_LABEL,
	INSTRUCTION_RUN,
	INSTRUCTION_SHELL,
	INSTRUCTION_STOPSIGNAL,
	INSTRUCTION_USER,
	INSTRUCTION_VOLUME,
	INSTRUCTION_WORKDIR,
};

struct instruction {
	enum instruction_kind kind;
	int line;			  /* where it begins */
	const char *text;		  /* what follows the name, in one line, as it is written */
	const char *comment;		  /* the comment line right before it; "" without */
	const char *const *exec;	  /* the words of the JSON form; NULL in the other form */
	const char *from, *chown, *chmod; /* COPY's options, not expanded; "" without */
};

struct build_stage {
	const char *name; /* "" when it has none */
	const char *base; /* an image, or the name or number of an earlier stage; ARGs put in */
	int line;
	size_t count;
	struct instruction *list;
};

struct dockerfile {
	const char *path;	      /* for errors */
	const char *const *arguments; /* of ARGs before the first FROM: "NAME" or "NAME=DEFAULT" */
	size_t stage_count;
	struct build_stage stages[STAGES_MAX];
};

/* Texts live in the arena. ERROR_USAGE names `path` and the line. */
int dockerfile_parse(const char *path, const char *text, struct arena *arena,
		     struct dockerfile *dockerfile, struct error *err);

/*
 * The number of the earlier stage that `name` means (its name or its number), or -1; of two with
 * the same name, the later one. `before`: how many stages are looked at.
 */
int dockerfile_stage(const struct dockerfile *dockerfile, const char *name, size_t before);

/* "RUN", for messages. */
const char *instruction_name(enum instruction_kind kind);

/*
 * Words as Docker splits them: at blanks outside of quotes; quotes are taken off, $NAME, ${NAME},
 * ${NAME:-WORD} and ${NAME:+WORD} put in except between single quotes, and never split again.
 * `value` gives a name's value, or NULL. The list is NULL-terminated, in the arena. -1: a quote or
 * a brace is not closed, *why says so.
 */
int dockerfile_words(const char *text, const char *(*value)(void *arg, const char *name), void *arg,
		     struct arena *arena, const char *const **words, const char **why);

/* The SOURCE_DATE_EPOCH of the Dockerfile's first ARG with that name; 0 when there is none. */
int64_t dockerfile_epoch(const struct dockerfile *dockerfile);

#endif
