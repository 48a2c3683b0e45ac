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
	const struct backend *backend;
	struct build_target target;
	const char *name; /* as the backend knows it */
	bool built;	  /* false when the backend already kept it */
};

struct build_options {
	const char *cache_folder; /* bases and contexts are kept here; made when missing */
	bool dry_run;		  /* only print, as commands a person could paste, to stdout */
};

/* Builds, unless the backend keeps the image for this hash. Shows progress. */
int build_image(const struct cluster *cluster, const struct spec *spec,
		const struct build_options *options, struct arena *arena, struct image *image,
		struct error *err);

/* Adds what build_image would do to `out`, as commands a person could paste, one a line. */
int build_commands(const struct cluster *cluster, const struct spec *spec,
		   const struct build_options *options, struct arena *arena, struct str *out,
		   struct error *err);

#endif
