/* SPDX-License-Identifier: MIT */
/*
 * pull.h - an image from a registry into a layout.
 */
#ifndef REGISTRY_CLIENT_PULL_H
#define REGISTRY_CLIENT_PULL_H

#include "registry-client/manifest.h"
#include "registry-client/registry.h"

#define PLATFORM_ALL "all"

struct pull_report {
	size_t blobs_total, blobs_received; /* configs and layers, each digest once */
	uint64_t bytes_received;	    /* over all tries */
	uint64_t bytes_resumed;		    /* were there from a run that did not end */
	uint64_t bytes_there;		    /* of blobs that the layout had already */
	double seconds;
};

/*
 * Brings manifest, config and layers into the layout (made when missing), several blobs side by
 * side, large ones first, each hashed while it arrives. Blobs that are there whole (layout_verify)
 * are not asked for; what an interrupted run left of one is taken up where it ended. The manifest
 * comes last, so that a manifest in the layout stands for a whole image. index.json is left alone:
 * layout_tag.
 *
 * `platform`: which image of an index, "linux/arm64" or "linux/arm64/v8"; NULL: linux/amd64;
 * PLATFORM_ALL: the index with all its images. When it is named and the image is for another one,
 * that is an error. *manifest: the image's manifest, or the index.
 *
 * With a digest in the reference and everything in the layout there is no traffic at all. Errors
 * begin with "pull REGISTRY/REPOSITORY: ".
 */
int registry_pull(struct registry *registry, const struct reference *ref, const char *layout_folder,
		  const char *platform, struct pull_report *report, struct descriptor *manifest,
		  struct error *err);

/*
 * The same for a caller who works with the blobs while others still come. `started` gets the
 * manifest of the image before its blobs are asked for; `arrived` gets each blob when it is in the
 * layout, also those that were there before. Blobs come in the order of the manifest then, not
 * large ones first. An error of either ends the pull. Both are called in the calling thread.
 */
struct pull_watch {
	int (*started)(void *arg, const struct manifest *image, struct error *err);
	int (*arrived)(void *arg, const char *digest, struct error *err);
	void *arg;
};
int registry_pull_watched(struct registry *registry, const struct reference *ref,
			  const char *layout_folder, const char *platform,
			  const struct pull_watch *watch, struct pull_report *report,
			  struct descriptor *manifest, struct error *err);

#endif
