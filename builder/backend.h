/* SPDX-License-Identifier: MIT */
/*
 * backend.h - what turns a spec into an image: one const record per engine, in backend_NAME.c.
 *
 * A backend keeps images under names of its own ("ringup-train:1f3a..."); getting one out is
 * `save`.
 */
#ifndef BUILDER_BACKEND_H
#define BUILDER_BACKEND_H

#include "core/error.h"
#include "plan/spec.h"

/* Where a backend works: the build part of cluster.yaml. */
struct build_target {
	const char *docker_host; /* "" for the engine's default */
};

struct backend {
	const char *name, *help;
	/* Whether it can build here; *why is one sentence when not (arena). */
	bool (*available)(const struct build_target *target, struct arena *arena, const char **why);
	/* Whether it already keeps an image of this name. */
	int (*has_image)(const struct build_target *target, const char *image, bool *found,
			 struct error *err);
	/* Takes a root filesystem tar as a base image. */
	int (*import_base)(const struct build_target *target, const char *tar, const char *image,
			   struct error *err);
	/*
	 * Builds the context tar; every line of output goes to `line`. build_args: NAME=VALUE,
	 * NULL-terminated. The error holds the failing step's own last lines.
	 */
	int (*build)(const struct build_target *target, const char *context_tar, const char *image,
		     const char *const *build_args, void (*line)(void *arg, const char *line),
		     void *arg, struct error *err);
	/* Writes the image to `fd` as a docker-archive. */
	int (*save)(const struct build_target *target, const char *image, int fd,
		    struct error *err);
	/* The words a person could paste to do what `build` does. */
	const char *const *(*build_words)(const char *context, const char *image,
					  const char *const *build_args, struct arena *arena);
};

/* All backends, NULL-terminated, in the order in which "auto" tries them. */
extern const struct backend *const backends[];

/* By name, or the first available for "auto". Errors list what was tried and why it cannot. */
int backend_find(const char *name, const struct build_target *target, struct arena *arena,
		 const struct backend **backend, struct error *err);

#endif
