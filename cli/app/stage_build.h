/* SPDX-License-Identifier: MIT */
/* stage_build.h - plan -> spec -> image, with base images from registries. */
#ifndef CLI_APP_STAGE_BUILD_H
#define CLI_APP_STAGE_BUILD_H

#include "builder/build.h"
#include "cli/app/stages.h"

/* What `build` may be asked for beside the cluster file. */
struct build_request {
	const char *engine; /* instead of the file's; NULL or "": the file's */
	bool shell_on_failure;
	const struct build_host *on; /* another machine; NULL: here */
};

/*
 * Renders the recipe of the plan, and of its `other`, with what is pinned; warns of packages that nobody
 * has asked the archives about.
 */
int stage_recipe(struct stages *stages, struct error *err);

/* The manifest of an image as its registry, or a mirror of it, has it now. */
int stage_digest(struct stages *stages, const char *image, struct descriptor *manifest,
		 struct error *err);

/* What builds an image of the spec here by default; texts in the arena. */
void stage_build_options(struct stages *stages, const struct spec *spec,
			 struct build_options *options);

/* Builds the image unless the backend keeps it; `request` may be NULL. */
int stage_build(struct stages *stages, const struct spec *spec, const struct build_request *request,
		struct image *image, struct error *err);

#endif
