/* SPDX-License-Identifier: MIT */
/* blob_get.h - a small blob of a registry into memory, for example an image's config. */
#ifndef REGISTRY_CLIENT_BLOBS_BLOB_GET_H
#define REGISTRY_CLIENT_BLOBS_BLOB_GET_H

#include "oci/manifest.h"
#include "plan/reference.h"

struct registry;

/*
 * At most MANIFEST_BYTES_MAX, checked against the descriptor's size and digest; *length bytes and a
 * NUL, in the arena.
 */
int registry_get_blob(struct registry *registry, const struct reference *ref,
		      const struct descriptor *descriptor, struct arena *arena, const char **bytes,
		      size_t *length, struct error *err);

#endif
