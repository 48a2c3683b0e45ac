/* SPDX-License-Identifier: MIT */
/*
 * copy.h - an image from one registry to another, or to another name in the same one.
 *
 * Nothing touches the disk: blobs that the target lacks are mounted where both names are in one
 * registry (OCI distribution-spec 1.1, "Mounting a blob from another repository"), and otherwise
 * pass through memory in chunks of COPY_CHUNK_BYTES, several blobs side by side.
 */
#ifndef REGISTRY_CLIENT_COPY_H
#define REGISTRY_CLIENT_COPY_H

#include "registry-client/push.h"

/*
 * `platform` as in registry_pull, except that an index is copied whole when it is NULL. The two
 * registries may be the same object. `to` without a tag and a digest gets the tag "latest". Errors
 * begin with "copy to REGISTRY/REPOSITORY: ".
 */
int registry_copy(struct registry *source, const struct reference *from, struct registry *target,
		  const struct reference *to, const char *platform, struct push_report *report,
		  struct error *err);

#endif
