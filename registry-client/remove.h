/* SPDX-License-Identifier: MIT */
/*
 * remove.h - taking images out of a registry.
 *
 * Source: OCI distribution-spec 1.1, "Deleting tags" and "Deleting Manifests". A registry may
 * refuse either. Distribution 2.8 deletes only by digest, which takes every tag of that digest
 * with it: that is done only when there is no other tag, or when `all_tags` says so. Blobs stay
 * until the registry's garbage collection.
 */
#ifndef REGISTRY_CLIENT_REMOVE_H
#define REGISTRY_CLIENT_REMOVE_H

#include "plan/reference.h"
#include "registry-client/registry.h"

struct removed {
	bool by_digest;	    /* the manifest was deleted, not only a tag */
	const char *digest; /* digest of what was removed; in the arena */
};

/*
 * With a digest in the reference: removes the manifest, and so every tag that names it. With a tag:
 * removes that tag. An entry in its subject's list of referrers is removed, too.
 */
int registry_remove(struct registry *registry, const struct reference *ref, bool all_tags,
		    struct arena *arena, struct removed *removed, struct error *err);

#endif
