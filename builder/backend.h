/* SPDX-License-Identifier: MIT */
/*
 * backend.h - a build engine, which turns a spec into an image. Each is a const record in
 * backend_NAME.c.
 *
 * A backend keeps images under its own names ("ringup/train:1f3a..."). image_export (build.h)
 * exports one.
 */
#ifndef BUILDER_BACKEND_H
#define BUILDER_BACKEND_H

#include "core/error.h"
#include "oci/manifest.h"
#include "plan/spec.h"

/* Another machine whose engine builds. */
struct build_host {
	const char *name;	  /* for people */
	const char *const *reach; /* words that take one more: a command line for its shell */
	bool sudo;		  /* commands there begin with sudo -n */
};

/* Where a backend works. */
struct build_target {
	const struct build_host *on; /* NULL: this machine */
	const char
		*docker_host; /* build.docker_host of cluster.yaml; "" for the engine's default */
	const char *userns;   /* build.userns of cluster.yaml */
	const char *store;    /* the native engine's folder (store.h) */
	bool has_steps;	      /* the Dockerfile runs something */
};

/* One build. */
struct build_job {
	const struct build_target *target;
	const struct spec *spec;
	const char *image;     /* the image's name */
	const char *base_tar;  /* the root filesystem of spec->base_name, for import_base == NULL */
	const char *scratch;   /* folder for temporary files; made unless backend.is_roots */
	const char *log_path;  /* file for all output */
	bool shell_on_failure; /* if the engine supports it */
	/* Pulls an image from a registry into a layout (native.h). */
	int (*fetch)(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		     struct error *err);
	void *fetch_arg;
	const struct budget_limits *limits; /* of what base images unpack to; NULL: the defaults */
	/* Each line of output of an engine that shows no progress of its own. */
	void (*line)(void *arg, const char *line);
	void *arg;
};

#define BACKEND_RANK_MAX 99

struct client_words; /* builder/client/client.h */

/* The first argument of each function is its own record. */
struct backend {
	const char *name, *help;
	int rank;			  /* `auto` tries the lowest first; 0 to BACKEND_RANK_MAX */
	const struct client_words *words; /* words of its command-line client; NULL: no client */
	bool uses_docker_host;		  /* build.docker_host says where it works */
	bool is_roots; /* works as root, at least of a user namespace, and only in the store */
	/* Whether it can build here. If not, *why is one sentence (arena). */
	bool (*available)(const struct backend *backend, const struct build_target *target,
			  struct arena *arena, const char **why);
	/* Whether it already keeps an image of this name. */
	int (*has_image)(const struct backend *backend, const struct build_target *target,
			 const char *image, bool *found, struct error *err);
	/* Imports a root filesystem tar as a base image. NULL: the job has the tar. */
	int (*import_base)(const struct backend *backend, const struct build_target *target,
			   const char *tar, const char *image, struct error *err);
	/*
	 * Cleans up another machine: removes the image (NULL: the build made none) and what the
	 * steps left, which the build's `log` names ("" for none). NULL: this engine leaves
	 * nothing.
	 */
	int (*forget)(const struct backend *backend, const struct build_target *target,
		      const char *image, const char *log, struct error *err);
	/* Builds. The error holds the failing step's own last lines. */
	int (*build)(const struct backend *backend, const struct build_job *job, struct error *err);
	/*
	 * Writes the image to `fd` as a docker-archive. NULL: the image is in the layout of the
	 * target's store under its name.
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
 * Finds a backend by name, or for "auto" the first available one by rank. With a docker_host only a
 * backend that uses it is taken. Errors list what was tried and why it does not work.
 */
int backend_find(const char *name, const struct build_target *target, struct arena *arena,
		 const struct backend **backend, struct error *err);

#endif
