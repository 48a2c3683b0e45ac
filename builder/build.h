/* SPDX-License-Identifier: MIT */
/*
 * build.h - spec -> image, with the base made when it is missing.
 */
#ifndef BUILDER_BUILD_H
#define BUILDER_BUILD_H

#include "builder/backend.h"
#include "core/str.h"
#include "plan/cluster.h"

struct image {
	const struct backend *backend; /* NULL for one that the store kept, whoever built it */
	struct build_target target;
	const char *name; /* as the backend knows it, or the store for another machine's */
	int64_t newest_s; /* the spec's SOURCE_DATE_EPOCH */
	bool kept;	  /* it lies in the layout of the target's store */
	bool built;	  /* false when the backend already kept it */
};

struct build_options {
	const char *cache_folder; /* bases, layers and contexts are kept here; made when missing */
	const char *log_path;	  /* what the steps print; "" for one in the cache folder */
	const char *engine;	  /* instead of build.engine of cluster.yaml; "" for that */
	bool shell_on_failure;
	/* The machine whose engine builds, NULL: this one. The image comes home into the store, and
	 * nothing of it is left there. */
	const struct build_host *on;
	/* Gets a base image from a registry (native.h); NULL: only engines can. */
	int (*fetch)(void *arg, const char *image, const char *layout, struct descriptor *manifest,
		     struct error *err);
	void *fetch_arg;
};

/* Builds, unless the backend keeps the image for this hash. Shows progress. */
int build_image(const struct cluster *cluster, const struct spec *spec,
		const struct build_options *options, struct arena *arena, struct image *image,
		struct error *err);

/*
 * Removes the native engine's store in the cache folder, with the images that it keeps. As a person
 * in a user namespace made it, so it is removed; *folder is its path.
 */
int build_clear(const char *cache_folder, struct arena *arena, const char **folder,
		struct error *err);

/* Adds what build_image would do to `out`, as commands a person could paste, one a line. */
int build_commands(const struct cluster *cluster, const struct spec *spec,
		   const struct build_options *options, struct arena *arena, struct str *out,
		   struct error *err);

/*
 * The image of another machine's engine into the store's layout here, under its name.
 */
int image_take_home(const struct image *image, struct error *err);

/*
 * The image as a layout: *layout is `scratch`, which is filled, or the backend's own, which is only
 * to be read. Build arguments with mirrors are taken out of its history.
 */
int image_export(const struct image *image, const char *scratch, struct arena *arena,
		 const char **layout, struct descriptor *manifest, struct error *err);

#endif
