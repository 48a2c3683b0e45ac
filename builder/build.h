/* SPDX-License-Identifier: MIT */
/* build.h - builds an image from a spec, and makes its base when that is missing. */
#ifndef BUILDER_BUILD_H
#define BUILDER_BUILD_H

#include "builder/backend.h"
#include "core/str.h"
#include "plan/cluster.h"

struct image {
	const struct backend *backend; /* NULL for an image that was already in the store */
	struct build_target target;
	/* its name in the backend, or in the store when another machine built it */
	const char *name;
	int64_t newest_s;		    /* the spec's SOURCE_DATE_EPOCH */
	const struct budget_limits *limits; /* of build_options */
	bool kept;			    /* it is in the layout of the target's store */
	bool built;			    /* false when the backend already kept it */
};

struct build_options {
	/* bases, layers and contexts are kept here; made when missing. Nobody else may write it. */
	const char *cache_folder;
	/* for the output of the steps; "": a file in the cache folder */
	const char *log_path;
	const char *engine; /* instead of build.engine of cluster.yaml; "": that one */
	bool shell_on_failure;
	/*
	 * The machine whose engine builds; NULL: this one. The image is copied into the store here,
	 * and nothing stays on that machine.
	 */
	const struct build_host *on;
	/* Pulls a base image from a registry (native.h). NULL: only engines can pull. */
	int (*fetch)(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		     struct error *err);
	void *fetch_arg;
	/* What a base image may unpack to, and an image that an engine gives; NULL: the defaults. */
	const struct budget_limits *limits;
};

/* Whether this machine, or `on`, can build it: it has the processor, or the image has no steps. */
int build_fits(const struct spec *spec, const struct build_host *on, struct arena *arena,
	       bool *fits, struct error *err);

/* Builds, unless the backend keeps the image for this hash. Shows progress. */
int build_image(const struct cluster *cluster, const struct spec *spec,
		const struct build_options *options, struct arena *arena, struct image *image,
		struct error *err);

/*
 * Removes the native engine's store in the cache folder, with all its images. A store that was made
 * in a user namespace is removed in one. *folder is its path.
 */
int build_clear(const char *cache_folder, struct arena *arena, const char **folder,
		struct error *err);

/* Adds what build_image would do to `out`, as commands a person could paste, one a line. */
int build_commands(const struct cluster *cluster, const struct spec *spec,
		   const struct build_options *options, struct arena *arena, struct str *out,
		   struct error *err);

/* Copies the image of another machine's engine into the store's layout here, under its name. */
int image_take_home(const struct image *image, struct error *err);

/*
 * Exports the image as a layout. *layout is `scratch`, which it fills, or the backend's own layout,
 * which must only be read. Build arguments with mirrors are removed from the image's history.
 */
int image_export(const struct image *image, const char *scratch, struct arena *arena,
		 const char **layout, struct descriptor *manifest, struct error *err);

#endif
