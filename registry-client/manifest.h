/* SPDX-License-Identifier: MIT */
/*
 * manifest.h - manifests from and to a registry.
 *
 * Source: OCI distribution-spec 1.1, "Pulling manifests", "Pushing Manifests".
 */
#ifndef REGISTRY_CLIENT_MANIFEST_H
#define REGISTRY_CLIENT_MANIFEST_H

#include "oci/manifest.h"
#include "plan/reference.h"

struct registry;

/* Whether the registry has it: HEAD. A missing manifest is no error: *found is false. */
int registry_head_manifest(struct registry *registry, const struct reference *ref,
			   struct descriptor *descriptor, bool *found, struct error *err);

/*
 * GETs it, MANIFEST_BYTES_MAX at most, checked against its digest. Bytes live in the arena.
 * *descriptor is made from them, so that its size_bytes is their length.
 */
int registry_get_manifest(struct registry *registry, const struct reference *ref,
			  struct arena *arena, struct descriptor *descriptor, const char **bytes,
			  struct error *err);

/*
 * The same for a manifest that an index names: it must have the size and the digest of `named`, too.
 * Only the repository of `ref` counts. `named` may be the same object as *descriptor.
 */
int registry_get_entry(struct registry *registry, const struct reference *ref,
		       const struct descriptor *named, struct arena *arena,
		       struct descriptor *descriptor, const char **bytes, struct error *err);

/*
 * PUTs the bytes under the reference's digest, else its tag, else "latest". Everything the manifest
 * names must be there already: registry_push sees to that.
 */
int registry_put_manifest(struct registry *registry, const struct reference *ref,
			  const struct descriptor *descriptor, const char *bytes,
			  struct error *err);

#endif
