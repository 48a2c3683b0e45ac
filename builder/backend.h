/* SPDX-License-Identifier: MIT */
/*
 * backend.h - what turns a spec into an image: one const record per engine, in backend_NAME.c.
 *
 * A backend keeps images under names of its own ("ringup/train:1f3a..."); image_export (build.h)
 * gets one out.
 */
#ifndef BUILDER_BACKEND_H
#define BUILDER_BACKEND_H

#include "core/error.h"
#include "oci/manifest.h"
#include "plan/spec.h"

/* Another machine, whose engine builds. */
struct build_host {
	const char *name;	  /* for people */
	const char *const *reach; /* words, before one more that is a command line for its shell */
	bool sudo;		  /* commands there begin with sudo -n */
};

/* Where a backend works. */
struct build_target {
	const struct build_host *on; /* NULL: this machine */
	const char
		*docker_host; /* build.docker_host of cluster.yaml; "" for the engine's default */
	const char *store;    /* the native engine's folder (store.h) */
	bool has_steps;	      /* the Dockerfile runs something */
};

/* What is to be built. */
struct build_job {
	const struct build_target *target;
	const struct spec *spec;
	const char *image;     /* the name that it gets */
	const char *base_tar;  /* the root filesystem of spec->base_name, for import_base == NULL */
	const char *scratch;   /* for what is needed meanwhile; made unless backend.is_roots */
	const char *log_path;  /* for all that is printed */
	bool shell_on_failure; /* where the engine can do it */
	/* Gets an image of a registry into a layout (native.h). */
	int (*fetch)(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		     struct error *err);
	void *fetch_arg;
	/* Each line of output of an engine that shows no progress of its own. */
	void (*line)(void *arg, const char *line);
	void *arg;
};

struct client_words; /* builder/client/client.h */

/* Each function gets its own record first. */
struct backend {
	const char *name, *help;
	int rank;			  /* "auto" tries the lowest first */
	const struct client_words *words; /* of its client; NULL: it has none */
	bool uses_docker_host;		  /* build.docker_host says where it works */
	bool is_roots; /* works as root, if only of a user namespace, and in the store alone */
	/* Whether it can build here; *why is one sentence when not (arena). */
	bool (*available)(const struct backend *backend, const struct build_target *target,
			  struct arena *arena, const char **why);
	/* Whether it already keeps an image of this name. */
	int (*has_image)(const struct backend *backend, const struct build_target *target,
			 const char *image, bool *found, struct error *err);
	/* Takes a root filesystem tar as a base image; NULL: it comes with the job. */
	int (*import_base)(const struct backend *backend, const struct build_target *target,
			   const char *tar, const char *image, struct error *err);
	/*
	 * What another machine is not to keep: removes the image (NULL: none came of it) and what
	 * the steps left that the build's `log` ("" for none) tells of. NULL: nothing is left.
	 */
	int (*forget)(const struct backend *backend, const struct build_target *target,
		      const char *image, const char *log, struct error *err);
	/* Builds. The error holds the failing step's own last lines. */
	int (*build)(const struct backend *backend, const struct build_job *job, struct error *err);
	/*
	 * Writes the image to `fd` as a docker-archive. NULL: it lies in the layout of the target's
	 * store under its name.
	 */
	int (*save)(const struct backend *backend, const struct build_target *target,
		    const char *image, int fd, struct error *err);
	/* The words a person could paste to do what `build` does; NULL: `ringup build` itself. */
	const char *const *(*build_words)(const struct backend *backend, const char *context,
					  const char *image, const char *const *build_args,
					  struct arena *arena);
};

/* All backends, NULL-terminated, by name. */
extern const struct backend *const backends[];

/*
 * By name, or for "auto" the first available by rank; with a docker_host only one that uses it.
 * Errors list what was tried and why it cannot.
 */
int backend_find(const char *name, const struct build_target *target, struct arena *arena,
		 const struct backend **backend, struct error *err);

#endif
