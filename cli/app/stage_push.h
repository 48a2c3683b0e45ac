/* SPDX-License-Identifier: MIT */
/*
 * stage_push.h - image -> reference in the cluster's registry: the image is compressed once, and only
 * what the registry lacks is sent.
 */
#ifndef CLI_APP_STAGE_PUSH_H
#define CLI_APP_STAGE_PUSH_H

#include "builder/build.h"
#include "cli/app/registry_access.h"
#include "cli/app/stages.h"

/* The name under which the registry keeps the image of this spec; no traffic. */
int stage_reference(struct stages *stages, struct error *err);

/* Opens the registry of that name; `options` may be NULL (access_open). */
int stage_registry(struct stages *stages, const struct access_options *options,
		   struct registry **registry, struct error *err);

/* Whether the registry holds the image of this spec; sets the reference's digest then. */
int stage_find_image(struct stages *stages, struct registry *registry, bool *found,
		     struct error *err);

/* An image on its way to the registry. */
struct pushed {
	const struct spec *spec;
	const struct plan *plan;
	struct image image;
	const char *layout; /* where it lies, and */
	struct descriptor manifest;
};

/* Sends an image or an index, with all that it names, under the reference's tag, and says so. */
int stage_push_send(struct stages *stages, struct registry *registry, const char *layout,
		    const struct descriptor *manifest, struct error *err);

/* The image's bill of materials and its provenance, beside it. */
int stage_push_documents(struct stages *stages, struct registry *registry,
			 const struct pushed *pushed, struct error *err);

/*
 * Both: stage_recipe, then the image in the registry, found there or built and pushed (*is_new). What
 * `push` does with the cluster's own image.
 */
int stage_provide(struct stages *stages, const struct access_options *options, bool *is_new,
		  struct error *err);

/*
 * stage_recipe, and whether the registry has the image, which is said. Where the registry cannot be reached, the digest
 * that ringup.lock has for the same recipe is taken, with a warning: a host that has that image needs no
 * registry, and the others fail by themselves. *registry may stay NULL then.
 */
int stage_find_or_recall(struct stages *stages, struct registry **registry, bool *found,
			 struct error *err);

/* Whether the containers of all active hosts have the image of the reference. */
bool stage_image_is_there(struct stages *stages);

/*
 * Where the image goes to the hosts over SSH and one of them may lack it: brings it from the registry into a file of
 * .ringup, which the caller removes. *path is NULL otherwise.
 */
int stage_image_file(struct stages *stages, const char **path, struct error *err);

/* As stage_provide, with stage_find_or_recall: what `up` does. */
int stage_provide_or_recall(struct stages *stages, bool *is_new, struct error *err);

#endif
