/* SPDX-License-Identifier: MIT */
/* push_origin.h - a push from a layout or from another registry, for push.c and copy.c. */
#ifndef REGISTRY_CLIENT_PUSH_ORIGIN_H
#define REGISTRY_CLIENT_PUSH_ORIGIN_H

#include "registry-client/blob.h"
#include "registry-client/push.h"

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
