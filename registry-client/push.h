/* SPDX-License-Identifier: MIT */
/*
 * push.h - an image from a layout to a registry.
 */
#ifndef REGISTRY_CLIENT_PUSH_H
#define REGISTRY_CLIENT_PUSH_H

#include "registry-client/manifest.h"
#include "registry-client/registry.h"

struct push_report {
	size_t blobs_total, blobs_sent; /* configs and layers, each digest once */
	size_t blobs_mounted;		/* taken over from another repository of the registry */
	uint64_t bytes_sent;		/* over all tries */
	double seconds;
	char digest[DIGEST_TEXT_BYTES]; /* of the manifest */
	bool tag_was_there; /* the tag named this manifest already: nothing was written */
};

/*
 * Asks the registry for all blobs at once, sends those it lacks (large ones first, several side by
 * side), and then, only when all are there, puts the manifest under the reference's tag; of an
 * index first the manifests of all its images. Run again after a failure it sends only what is
 * missing. A manifest with a `subject` is entered into the subject's list of referrers
 * (referrers.h). Errors begin with "push REPOSITORY: ".
 */
int registry_push(struct registry *registry, const char *layout_folder,
		  const struct descriptor *manifest, const struct reference *ref,
		  struct push_report *report, struct error *err);

/*
 * Sends layers while those behind them are still made: each goes as soon as the layout has it.
 * registry_push_supplied then sends the rest and the manifest, and its report counts both together.
 * push_ahead_end without it leaves only blobs without a name in the registry.
 */
struct push_ahead;
/* `ref` is borrowed. Never NULL; the caller ends it with push_ahead_end. */
struct push_ahead *push_ahead_begin(struct registry *registry, const struct reference *ref);
/*
 * Call it from one thread, always with the same layout; it does not wait. What fails is tried again
 * by registry_push_supplied, which reports it. The first argument is the push_ahead.
 */
void push_ahead_blob(void *ahead, const char *layout_folder, const struct descriptor *blob);
/* For _cleanup_. */
void push_ahead_end(struct push_ahead **ahead);

/*
 * registry_push with blobs that are not in the layout yet. make() is called once, when all answers
 * are there, with the blobs that the registry lacks too, and must put them into the layout. Its
 * error ends the push unchanged. `ahead`, or NULL, has sent some.
 */
struct push_supply {
	struct push_ahead *ahead;
	/* or NULL */
	int (*make)(void *arg, const struct descriptor *const *blobs, size_t count,
		    struct error *err);
	void *arg;
};
int registry_push_supplied(struct registry *registry, const char *layout_folder,
			   const struct push_supply *supply, const struct descriptor *manifest,
			   const struct reference *ref, struct push_report *report,
			   struct error *err);

/* Where the bytes of a push come from: a layout, or for a copy another registry. */
struct blob_source;
struct push_origin {
	const char *folder;		  /* a layout; or NULL, and */
	const struct blob_source *source; /* another registry */
	const struct push_supply *supply; /* makes blobs that the layout lacks, or NULL */
	const char *mount_from; /* repository of the same registry to mount from, or NULL */
};

/* registry_push without the "push REPOSITORY: " in its errors. */
int push_from(struct registry *registry, const struct push_origin *origin,
	      const struct descriptor *manifest, const struct reference *ref,
	      struct push_report *report, struct error *err);

#endif
